import { invalid } from '../checks.ts'
import { checkFault, checkUrl, type Fault, type FaultKind } from './fault.ts'
import { type Direction, type SeenMessage, statementOf, type WireMessage } from './messages.ts'
import type { Link } from './link.ts'
import { startRelay } from './relay.ts'

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
