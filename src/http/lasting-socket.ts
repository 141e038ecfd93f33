import { Mask } from './mask.ts'

/** What hears of a hang-up, of a socket, and what does no more. */
const hears = ['on', 'once', 'addListener', 'prependListener', 'prependOnceListener']
const forgets = ['off', 'removeListener']

/**
 * Hides from whoever answers a request that its client has hung up, where frameworks look for it: they would
 * not send the answer that is to be stored.
 *
 * @returns what shows it again.
 */
export function hideHangUpOf(message: object): () => void {
  const mask = new Mask(message)
  const socket: unknown = Reflect.get(message, 'socket')
  const closed = new Map<unknown, () => void>()
  if (typeof socket === 'object' && socket !== null) {
    const lasting = lastingOf(socket, closed)
    mask.seen('socket', () => lasting)
  }
  mask.seen('aborted', () => false)
  return () => {
    mask.lift()
    for (const hear of closed.values()) hear()
    closed.clear()
  }
}

/**
 * A socket that is never closed, and everything else that it is.
 *
 * @param later - is given what hears of its end once that is shown again, by its listener.
 */
function lastingOf(socket: object, later: Map<unknown, () => void>): object {
  const lasting: object = new Proxy(socket, {
    get(target, name) {
      if (name === 'destroyed') return false
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        const [event, listener] = given
        if (event === 'close' && hears.includes(String(name))) {
          later.set(listener, () => {
            if (Reflect.get(target, 'destroyed')) process.nextTick(listener as () => void)
            else value.apply(target, given)
          })
          return lasting
        }
        if (event === 'close' && forgets.includes(String(name))) later.delete(listener)
        return value.apply(target, given) as unknown
      }
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
  return lasting
}
