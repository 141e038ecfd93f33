import { checkWhole, invalid } from '../checks.ts'
import type { Direction } from './messages.ts'

/**
 * What happens to a connection:
 * - `cut`: it is closed on both sides.
 * - `half-open`: nothing passes any more in either direction, and neither side is told.
 * - `stalled`: nothing passes until `release`, and then all that has come meanwhile.
 * - `cancelled`: whatever its backend is doing is cancelled, as by `pg_cancel_backend`, however late. Between two
 *   statements that is nothing, as only the server knows.
 * - one of one's own.
 */
export type FaultKind = 'cut' | 'half-open' | 'stalled' | 'cancelled' | OwnFault

/** A fault of one's own, such as the end of a backend, a process or a server. */
export interface OwnFault {
  /** For reports. */
  readonly name: string
  /**
   * Makes it happen. Meanwhile the message waits. What it throws cuts the connection.
   *
   * @param pid - process of the backend, once the server has told the client.
   * @returns false when there was nothing to strike at; then the fault has not struck.
   */
  readonly act: (pid: number | undefined) => Promise<unknown>
}

/** Where a fault strikes, and what it is. */
export interface Fault {
  /** What it is. */
  readonly kind: FaultKind
  /** Of the message at which it strikes. */
  readonly direction: Direction
  /**
   * Which message of that direction, counted from 1 over all connections since the proxy started: with
   * one connection at a time, the same message each time.
   */
  readonly message: number
  /** Whether that message is still passed on. */
  readonly side: 'before' | 'after'
}

/** @throws OncelyError `invalid_options`. */
export function checkUrl(url: string): void {
  const parsed = /^postgres(ql)?:\/\//.test(url) ? URL.parse(url) : null
  if (!parsed) throw invalid('url must be that of a PostgreSQL server')
  const { hostname, searchParams } = parsed
  // What goes round the proxy would prove nothing.
  if (hostname === '' || /%2f/i.test(hostname)) throw invalid('url must name a host, and no socket')
  for (const name of ['host', 'hostaddr', 'port']) {
    if (searchParams.has(name)) throw invalid(`url must not have the parameter '${name}'`)
  }
  if (/^(require|verify-)/.test(searchParams.get('sslmode') ?? '')) {
    throw invalid('url must not insist on TLS: there is none through the proxy')
  }
}

/** @throws OncelyError `invalid_options`. */
export function checkFault({ direction, message, side, kind }: Fault): void {
  if (!['to server', 'to client'].includes(direction)) {
    throw invalid("direction must be 'to server' or 'to client'")
  }
  if (!['before', 'after'].includes(side)) throw invalid("side must be 'before' or 'after'")
  checkWhole('message', message, 1, Number.MAX_SAFE_INTEGER)
  checkFaultKind(kind)
}

/** What the proxy can do by itself. */
export const wireFaults = ['cut', 'half-open', 'stalled', 'cancelled'] as const

/** @throws OncelyError `invalid_options`. */
export function checkFaultKind(kind: FaultKind): void {
  const known = typeof kind === 'string' ? wireFaults.includes(kind) : isOwnFault(kind)
  if (!known) throw invalid(`a fault is one of ${wireFaults.join(', ')}, or { name, act }`)
}

function isOwnFault(kind: unknown): boolean {
  const { name, act } = Object(kind) as Partial<OwnFault>
  return typeof name === 'string' && typeof act === 'function'
}
