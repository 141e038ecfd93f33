import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Pool, PoolClient } from 'pg'

import { reachable } from './heap.ts'

/** What many calls at once hold, in bytes that are reachable. */
export interface Flight {
  readonly before: number
  /** While every one of them waits for the pool. */
  readonly waiting: number
  readonly after: number
}

/** Starts that many calls while somebody else has every connection, and lets them go on then. */
export async function fly(
  pool: Pool,
  calls: number,
  call: () => Promise<unknown>,
): Promise<Flight> {
  const held = await takeAll(pool)
  const before = await reachable()
  const ended = Promise.all(Array.from({ length: calls }, call))
  while (pool.waitingCount < calls) await nextTurn()
  const waiting = await reachable()
  for (const client of held) client.release()
  await ended
  while (pool.idleCount < pool.totalCount) await nextTurn()
  return { before, waiting, after: await reachable() }
}

type Listened = Pick<NodeJS.EventEmitter, 'eventNames' | 'listenerCount'>

/** How many listeners there are on the process, the pool and its clients. */
export async function countListeners(pool: Pool): Promise<number> {
  const clients = await takeAll(pool)
  const counts = [process, pool, ...clients].map((emitter: Listened) =>
    emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0),
  )
  for (const client of clients) client.release()
  return counts.reduce((sum, count) => sum + count, 0)
}

async function takeAll(pool: Pool): Promise<readonly PoolClient[]> {
  return Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
}
