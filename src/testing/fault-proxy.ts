import { checkWhole, invalid } from '../checks.ts'
import { type Direction, type SeenMessage, statementOf, type WireMessage } from './messages.ts'
import type { Link } from './link.ts'
import { startRelay } from './relay.ts'

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

/** A fault that will strike, has struck, or never will. */
export interface PlannedFault {
  /**
   * True once it has struck; false once it has not, or was withdrawn before it could. Rejected by what a fault
   * of one's own has thrown.
   */
  readonly struck: Promise<boolean>
  /** Takes it back, if its message has not come yet. */
  withdraw(): void
}

/** A TCP proxy that understands where the messages of PostgreSQL's protocol begin and end. */
export interface FaultProxy {
  /** The same database through the proxy, by a loopback port of its own. */
  readonly url: string
  /** What has come so far, of all connections, whether or not it was passed on. */
  readonly messages: readonly SeenMessage[]
  /**
   * Plans a fault. It strikes once.
   *
   * @throws OncelyError `invalid_options`, also for a message that has passed already.
   */
  inject(fault: Fault): PlannedFault
  /** Lets what is stalled go on, and closes what is half-open, so that both sides notice. */
  release(): void
  /** Closes every connection, and the port. */
  close(): Promise<void>
}

/**
 * Starts a proxy in front of a server, for tests of what becomes of a write whose connection fails.
 * It speaks no TLS: a client that asks for it is told that there is none.
 *
 * @param url - of the database, such as `postgres://user:password@127.0.0.1:5432/name`: over TCP, with host and port
 * in their places, and without an `sslmode` that insists on TLS.
 * @throws OncelyError `invalid_options` for anything but such a URL.
 *
 * @example
 * ```ts
 * const proxy = await startFaultProxy(url)
 * proxy.inject({ kind: 'cut', direction: 'to server', message: 12, side: 'after' })
 * ```
 */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  checkUrl(url)
  const messages: SeenMessage[] = []
  const seen: Record<Direction, number> = { 'to server': 0, 'to client': 0 }
  const planned = new Set<Plan>()
  const relay = await startRelay(url, async (message, link) => {
    const { direction, type } = message
    messages.push({ direction, type, statement: statementOf(message) })
    const number = (seen[direction] += 1)
    const plans = [...planned].filter(
      ({ fault }) => fault.direction === direction && fault.message === number,
    )
    for (const plan of plans) planned.delete(plan)
    await pass(message, link, plans)
  })
  return {
    url: relay.url,
    messages,
    inject(fault) {
      checkFault(fault)
      if (fault.message <= seen[fault.direction]) throw invalid('that message has passed already')
      const tell = Promise.withResolvers<boolean>()
      // Whoever does not look at it is not to hear of it as unhandled.
      tell.promise.catch(() => undefined)
      const plan: Plan = { fault, tell }
      planned.add(plan)
      return {
        struck: tell.promise,
        withdraw() {
          if (planned.delete(plan)) tell.resolve(false)
        },
      }
    },
    release() {
      for (const link of relay.links) link.release()
    },
    close: () => relay.close(),
  }
}

interface Plan {
  readonly fault: Fault
  readonly tell: PromiseWithResolvers<boolean>
}

async function pass(message: WireMessage, link: Link, plans: readonly Plan[]): Promise<void> {
  const strikeAt = async (side: Fault['side']) => {
    for (const { fault, tell } of plans.filter((plan) => plan.fault.side === side)) {
      try {
        tell.resolve(await strike(fault.kind, link))
      } catch (error) {
        tell.reject(error)
        throw error
      }
      await link.released()
    }
  }
  await strikeAt('before')
  link.pass(message)
  await strikeAt('after')
}

/** @returns whether there was something to strike at. */
async function strike(kind: FaultKind, link: Link): Promise<boolean> {
  if (kind === 'cancelled') return link.cancel()
  if (kind === 'cut') link.cut()
  else if (kind === 'half-open') link.goDeaf()
  else if (kind === 'stalled') link.hold()
  else return (await kind.act(link.pid)) !== false
  return true
}

function checkUrl(url: string): void {
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
