import { Mask } from './mask.ts'

/** What hears of a hang-up, of a socket. */
const hears = new Set<PropertyKey>([
  'on',
  'once',
  'addListener',
  'prependListener',
  'prependOnceListener',
])

/**
 * Hides from whoever answers a request that its client has hung up, where frameworks look for it: they would
 * not send the answer that is to be stored.
 *
 * @returns what shows it again.
 */
export function hideHangUpOf(message: object): () => void {
  const mask = new Mask(message)
  const socket: unknown = Reflect.get(message, 'socket')
  if (typeof socket === 'object' && socket !== null) {
    const lasting = lastingOf(socket)
    mask.seen('socket', () => lasting)
  }
  mask.seen('aborted', () => false)
  return () => {
    mask.lift()
  }
}

/** A socket that is never closed, and everything else that it is. */
function lastingOf(socket: object): object {
  const lasting: object = new Proxy(socket, {
    get(target, name) {
      if (name === 'destroyed') return false
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        if (hears.has(name) && given[0] === 'close') return lasting
        return value.apply(target, given) as unknown
      }
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
  return lasting
}
