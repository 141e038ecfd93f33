import { OncelyError } from '../errors.ts'
import { checkNames } from '../checks.ts'

/** What `guardPool` uses of a client of node-postgres. */
export interface PoolClientLike {
  /** As of every emitter of events. */
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What `guardPool` uses of a pool of node-postgres; `Pool` of `pg` is one. */
export interface PoolLike {
  /** As of every emitter of events. */
  on(event: 'error', listener: (error: Error, client: PoolClientLike) => void): unknown
  /** As of every emitter of events. */
  on(event: 'connect' | 'acquire', listener: (client: PoolClientLike) => void): unknown
}

/** Options of `guardPool`. */
export interface GuardPoolOptions {
  /**
   * Hears of each lost connection once, such as to log it. What it throws is ignored.
   *
   * @defaultValue nobody hears: whoever uses the connection gets an error anyway.
   */
  readonly onError?: (error: Error) => unknown
}

type Listener = (error: Error) => unknown

const guarded = new WeakMap<PoolLike, Set<Listener>>()

/**
 * Keeps a lost connection from ending the process. node-postgres emits an `'error'` event when a
 * connection is lost while no statement runs on it, and an event that nobody hears ends a Node
 * process. The pool listens to a client only while it is idle, and passes the error on to its own
 * listeners; while a function holds the client and waits for something else, nobody does.
 *
 * May be called twice: the pool is guarded once, and every `onError` hears.
 *
 * @param pool - of node-postgres. Its clients are guarded too, also those already connected.
 * @returns the same pool.
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * const pool = guardPool(new Pool({ connectionString }), { onError: (error) => log.warn(error) })
 * ```
 */
export function guardPool<Pool extends PoolLike>(pool: Pool, options: GuardPoolOptions = {}): Pool {
  if (typeof (Object(pool) as Partial<PoolLike>).on !== 'function') {
    throw new OncelyError('invalid_options', 'guardPool needs a Pool of node-postgres')
  }
  checkNames(options, ['onError'])
  if (options.onError !== undefined && typeof options.onError !== 'function') {
    throw new OncelyError('invalid_options', 'onError must be a function')
  }
  const listeners = guarded.get(pool) ?? guard(pool)
  if (options.onError) listeners.add(options.onError)
  return pool
}

function guard(pool: PoolLike): Set<Listener> {
  const listeners = new Set<Listener>()
  // A server's farewell and the end of the socket are two errors of one client, and one that is idle
  // has its errors passed on by the pool as well.
  const lost = new WeakSet<object>()
  const hear = (error: Error, client: object = error) => {
    if (lost.has(client)) return
    lost.add(client)
    for (const listener of listeners) {
      try {
        const heard: unknown = listener(error)
        if (heard instanceof Promise) heard.catch(() => undefined)
      } catch {
        // Thrown out of an event it would end the process, which is what this is against.
      }
    }
  }
  const clients = new WeakSet<PoolClientLike>()
  const listen = (client: PoolClientLike) => {
    if (clients.has(client)) return
    clients.add(client)
    client.on('error', (error) => {
      hear(error, client)
    })
  }
  pool.on('error', hear)
  pool.on('connect', listen)
  // For those that are idle now, and connected before anybody listened.
  pool.on('acquire', listen)
  connectedClients(pool).forEach(listen)
  guarded.set(pool, listeners)
  return listeners
}

/** Those that somebody holds now are in no event any more; a pool without that field has none. */
function connectedClients(pool: PoolLike): readonly PoolClientLike[] {
  const { _clients: clients } = pool as { _clients?: unknown }
  return Array.isArray(clients) ? (clients as PoolClientLike[]) : []
}
