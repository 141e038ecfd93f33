import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { one, other, scope, shopOn, writeOrder } from './shop.ts'

const database = testDatabase()
const shop = shopOn(database)
const idempotency = createIdempotency(shop.connect(), { replayWindowMs: 60_000 })

/** Each key has an item of its own. */
const order = (key: string, print = one) =>
  idempotency.withIdempotency(scope, key, print, async (tx, context) => {
    const placed = await writeOrder(tx, key)
    context.resource({ type: 'order', id: placed.number })
    return placed
  })

const clocksOf = (key: string) =>
  database.watcher
    .selectFrom('records')
    .where('key', '=', key)
    .select([
      'created_at',
      'replay_until',
      sql<number>`(extract(epoch from replay_until - created_at) * 1000)::float8`.as('ms'),
    ])
    .executeTakeFirstOrThrow()

/** As if the window had passed. */
const passWindow = (key: string) =>
  database.watcher
    .updateTable('records')
    .set({ replay_until: new Date(0) })
    .where('key', '=', key)
    .execute()

describe('the life of a key', () => {
  it('[25] The window counts from the claim, and a replay does not make it longer', async () => {
    strictEqual((await order('L-25')).kind, 'executed')
    const clocks = await clocksOf('L-25')
    strictEqual(clocks.ms, 60_000)
    strictEqual((await order('L-25')).kind, 'replayed')
    deepStrictEqual(await clocksOf('L-25'), clocks)
  })

  it('[26] Past the window the answer is `expired`, and nothing runs', async () => {
    await order('L-26')
    const before = await shop.orders('L-26')
    await passWindow('L-26')
    strictEqual((await order('L-26')).kind, 'expired')
    deepStrictEqual(await shop.orders('L-26'), before)
    strictEqual(before.length, 1)
  })

  it('[27] With the response cleared, the tombstone keeps key, fingerprint and resource', async () => {
    await order('L-27')
    const [id, ...others] = await shop.orders('L-27')
    strictEqual(await idempotency.expire(scope, 'L-27'), true)
    deepStrictEqual(await order('L-27'), {
      ok: false,
      kind: 'expired',
      resource: { type: 'order', id },
    })
    deepStrictEqual(await order('L-27', other), { ok: false, kind: 'conflict' })
    deepStrictEqual([await shop.orders('L-27'), others], [[id], []])
  })

  it('[28] `expired` carries the resource that the function named, so that the caller finds what the first call made', async () => {
    await order('L-28')
    await passWindow('L-28')
    const [id] = await shop.orders('L-28')
    deepStrictEqual(await order('L-28'), {
      ok: false,
      kind: 'expired',
      resource: { type: 'order', id },
    })
  })

  it('[29] A record that is deleted opens its key, and a late retry executes a second time', async () => {
    strictEqual((await order('L-29')).kind, 'executed')
    await database.watcher.deleteFrom('records').where('key', '=', 'L-29').execute()
    strictEqual((await order('L-29')).kind, 'executed')
    strictEqual((await shop.orders('L-29')).length, 2)
  })
})
