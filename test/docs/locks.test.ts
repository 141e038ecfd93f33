import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { PATIENCE_MS } from '../support/notes-host.ts'
import { one, scope, type ShopDatabase, shopOn, writeOrder } from './shop.ts'

const shop = shopOn(testDatabase())
const db = shop.connect()
const second = shop.connect({ application_name: 'second' })
const passing = () => Promise.resolve()

describe('a lock', () => {
  it('[15] The second holder of a lock comes after the first and does it again', async () => {
    const place = (by: Kysely<ShopDatabase>, pass = passing) =>
      by.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended('LOCK', 0))`.execute(tx)
        await pass()
        return writeOrder(tx, 'LOCK')
      })
    using hold = gate()
    const first = beside(place(db, hold.pass))
    await stopsAt(hold, first)
    const retry = beside(place(second))
    await shop.untilWaiting('second')
    hold.open()
    const numbers = [(await first).number, (await retry).number]
    deepStrictEqual((await shop.orders('LOCK')).toSorted(), numbers.toSorted())
    strictEqual(new Set(numbers).size, 2)
  })

  it('[16] a lease that ends while the work goes on lets two in', async () => {
    const takeLease = async () => {
      const { rows } = await sql`
        insert into leases values ('LEASE', clock_timestamp() + interval '1 hour')
        on conflict (name) do update set ends = excluded.ends
        where leases.ends <= clock_timestamp()
        returning name`.execute(db)
      return rows.length === 1
    }
    const place = async (pass = passing) => {
      if (!(await takeLease())) return 'somebody holds it'
      await pass()
      return writeOrder(db, 'LEASE')
    }
    using hold = gate()
    const first = beside(place(hold.pass))
    await stopsAt(hold, first)
    strictEqual(await place(), 'somebody holds it')
    // The hour is over, and the first holder, who is slow, does not know.
    await db
      .updateTable('leases')
      .set({ ends: new Date(0) })
      .execute()
    await place()
    strictEqual((await shop.orders('LEASE')).length, 1)
    hold.open()
    await first
    strictEqual((await shop.orders('LEASE')).length, 2)
  })

  it('[17] a twin waits in its claim for the first to commit, and is replayed; one that may not wait so long hears `in_progress`', async () => {
    const place = (by: Kysely<ShopDatabase>, pass = passing, lockTimeoutMs = PATIENCE_MS) =>
      createIdempotency(by, { lockTimeoutMs }).withIdempotency(scope, 'K-17', one, async (tx) => {
        await pass()
        return writeOrder(tx, 'TWIN')
      })
    using hold = gate()
    const first = beside(place(db, hold.pass))
    await stopsAt(hold, first)
    strictEqual((await place(second, passing, 1)).kind, 'in_progress')
    const twin = beside(place(second))
    await shop.untilWaiting('second')
    hold.open()
    const [executed, replayed] = [await first, await twin]
    deepStrictEqual([executed.kind, replayed.kind], ['executed', 'replayed'])
    deepStrictEqual(replayed.ok && replayed.value, executed.ok && executed.value)
    strictEqual((await shop.orders('TWIN')).length, 1)
  })
})
