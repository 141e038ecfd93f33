import { checkWhole, invalid } from '../checks.ts'
import type { Direction, WireMessage } from './messages.ts'
import type { Link } from './link.ts'
import { startRelay } from './relay.ts'

/**
 * What happens to a connection:
 * - `cut`: it is closed on both sides.
 * - `half-open`: nothing passes any more in either direction, and neither side is told.
 * - `stalled`: nothing passes until `release`, and then all that has come meanwhile.
 * - `cancelled`: whatever its backend is doing is cancelled, as by `pg_cancel_backend`, however late.
 * - one of one's own.
 */
export type FaultKind = 'cut' | 'half-open' | 'stalled' | 'cancelled' | OwnFault

/** A fault of one's own, such as the end of a backend, a process or a server. */
export interface OwnFault {
  /** For reports. */
  readonly name: string
  /**
   * Makes it happen. Meanwhile the message waits.
   *
   * @param pid - process of the backend, once the server has told the client.
   */
  readonly act: (pid: number | undefined) => Promise<unknown>
}

/** Where a fault strikes, and what it is. */
export interface Fault {
  /** What it is. */
  readonly kind: FaultKind
  /** Of the message at which it strikes. */
  readonly direction: Direction
  /** Which message of that direction, counted from 1 over all connections since the proxy started. */
  readonly message: number
  /** Whether that message is still passed on. */
  readonly side: 'before' | 'after'
}

/** A TCP proxy that understands where the messages of PostgreSQL's protocol begin and end. */
export interface FaultProxy {
  /** The same database through the proxy, by a loopback port of its own. */
  readonly url: string
  /** What has come so far, of all connections, whether or not it was passed on. */
  readonly messages: readonly WireMessage[]
  /**
   * Plans a fault. It strikes once.
   *
   * @returns a function that tells whether it has struck.
   * @throws OncelyError `invalid_options`.
   */
  inject(fault: Fault): () => boolean
  /** Lets what is stalled go on, and closes what is half-open, so that both sides notice. */
  release(): void
  /** Closes every connection, and the port. */
  close(): Promise<void>
}

/**
 * Starts a proxy in front of a server, for tests of what becomes of a write whose connection fails.
 * It speaks no TLS: a client that asks for it is told that there is none.
 *
 * @param url - of the database, as of `postgres://user:password@127.0.0.1:5432/name`.
 * @throws OncelyError `invalid_options` for anything but such a URL.
 *
 * @example
 * ```ts
 * const proxy = await startFaultProxy(url)
 * const struck = proxy.inject({ kind: 'cut', direction: 'to server', message: 12, side: 'after' })
 * ```
 */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw invalid('url must be that of a PostgreSQL server')
  }
  const messages: WireMessage[] = []
  const seen: Record<Direction, number> = { 'to server': 0, 'to client': 0 }
  const planned = new Set<Fault>()
  const relay = await startRelay(url, async (message, link) => {
    messages.push(message)
    const number = (seen[message.direction] += 1)
    const faults = [...planned].filter(
      (fault) => fault.direction === message.direction && fault.message === number,
    )
    for (const fault of faults) planned.delete(fault)
    await pass(message, link, faults)
  })
  return {
    url: relay.url,
    messages,
    inject(fault) {
      checkFault(fault)
      planned.add(fault)
      return () => !planned.has(fault)
    },
    release() {
      for (const link of relay.links) link.release()
    },
    close: () => relay.close(),
  }
}

async function pass(message: WireMessage, link: Link, faults: readonly Fault[]): Promise<void> {
  const strike = async (side: Fault['side']) => {
    for (const { kind } of faults.filter((fault) => fault.side === side)) {
      if (kind === 'cut') link.cut()
      else if (kind === 'half-open') link.goDeaf()
      else if (kind === 'stalled') await link.hold()
      else if (kind === 'cancelled') await link.cancel()
      else await kind.act(link.pid)
    }
  }
  await strike('before')
  link.pass(message)
  await strike('after')
}

function checkFault({ direction, message, side, kind }: Fault): void {
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
