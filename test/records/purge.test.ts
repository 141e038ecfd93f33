import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, scope, writeNote } from '../support/notes-host.ts'
import { completedRow } from '../support/record-rows.ts'
import { insertDue, insertTombstones, keysIn, numbered } from '../support/sweeping.ts'

const database = testDatabase()
const host = notesHost(database)
const forEver = createIdempotency(host.connect({ max: 8 }))
/** A minute. */
const idempotency = createIdempotency(host.connect({ max: 8 }), { tombstoneWindowMs: 60_000 })

beforeEach(() => sql`truncate idem.records cascade`.execute(database.watcher))

/** A purger that stops when its first batch is done and not yet committed. */
async function stoppedPurge(batchSize: number) {
  const hold = gate()
  const db = host.connect({
    application_name: 'stopped',
    log: async ({ query }) => {
      if (/delete from "idem"\."records"/.test(query.sql)) await hold.pass()
    },
  })
  const options = { tombstoneWindowMs: 60_000 }
  const purging = beside(createIdempotency(db, options).purge({ batchSize }))
  await stopsAt(hold, purging)
  return { purging, hold }
}

describe('purge', () => {
  it('without a window deletes no tombstone', async () => {
    await insertTombstones(database, ['old'], () => 1e9)
    deepStrictEqual(await forEver.purge(), { purged: 0 })
    deepStrictEqual(await keysIn(database, 'expired'), ['old'])
  })

  it('deletes the tombstones past their window, and no others', async () => {
    await insertTombstones(database, ['59', '61', '3600'], (index) => [59, 61, 3_600][index] ?? 0)
    deepStrictEqual(await idempotency.purge(), { purged: 2 })
    deepStrictEqual(await keysIn(database, 'expired'), ['59'])
    deepStrictEqual(await idempotency.purge(), { purged: 0 })
  })

  it('counts from when the response was cleared, and never deletes one that was not', async () => {
    await insertDue(database, ['due long ago', 'due still'], (index) => (index === 0 ? 1e9 : -1))
    await database.watcher
      .insertInto('records')
      .values({ ...completedRow('refused'), state: 'rejected', replay_until: new Date(0) })
      .execute()
    deepStrictEqual(await idempotency.purge(), { purged: 0 })
    deepStrictEqual(await idempotency.sweep(), { cleared: 2 })
    deepStrictEqual(await idempotency.purge(), { purged: 0 })
    deepStrictEqual(await keysIn(database, 'expired'), ['due long ago', 'refused'])
    deepStrictEqual(await keysIn(database, 'completed'), ['due still'])
  })

  for (const now of [0, Date.UTC(2199, 0)]) {
    it(`goes by the database's clock when the client's says ${new Date(now).toISOString()}`, async () => {
      await insertTombstones(database, ['due', 'not due'], (index) => (index === 0 ? 61 : 59))
      mock.timers.enable({ apis: ['Date'], now })
      try {
        deepStrictEqual(await idempotency.purge(), { purged: 1 })
      } finally {
        mock.timers.reset()
      }
      deepStrictEqual(await keysIn(database, 'expired'), ['not due'])
    })
  }

  it('A31: opens the key: what comes later than any retry may is a new call', async () => {
    const call = () => idempotency.withIdempotency(scope, 'late', one, writeNote)
    await call()
    await idempotency.expire(scope, 'late')
    strictEqual((await call()).kind, 'expired')
    await database.watcher
      .updateTable('records')
      .set({ expired_at: sql<Date>`now() - interval '61 seconds'` })
      .where('key', '=', 'late')
      .execute()
    deepStrictEqual(await idempotency.purge(), { purged: 1 })
    // It runs: the unique constraint of the host is the last line, which is why one stays.
    await sql`delete from public.notes`.execute(database.watcher)
    strictEqual((await call()).kind, 'executed')
  })

  it('goes in bounded batches, the oldest first, until the signal aborts', async () => {
    await insertTombstones(database, numbered('key', 25), (index) => 100 + index)
    const stop = new AbortController()
    const batches: number[] = []
    const onBatch = (rows: number) => {
      if (batches.push(rows) === 2) stop.abort()
    }
    const options = { batchSize: 10, onBatch }
    deepStrictEqual(await idempotency.purge({ ...options, signal: stop.signal }), { purged: 20 })
    deepStrictEqual(await keysIn(database, 'expired'), numbered('key', 5))
    deepStrictEqual(await idempotency.purge(options), { purged: 5 })
    deepStrictEqual(batches, [10, 10, 5])
  })

  it('takes no larger batch under a nested loop', async () => {
    await insertTombstones(database, numbered('key', 300), () => 61)
    const off = ['hashjoin', 'mergejoin', 'material', 'memoize']
    const db = host.connect({ options: off.map((name) => `-c enable_${name}=off`).join(' ') })
    const batches: number[] = []
    const onBatch = (rows: number) => batches.push(rows)
    await createIdempotency(db, { tombstoneWindowMs: 1 }).purge({ batchSize: 100, onBatch })
    deepStrictEqual(batches, [100, 100, 100, 0])
  })
})

describe('several purgers at once', () => {
  it('delete each tombstone once, all of them together', async () => {
    await insertTombstones(database, numbered('key', 400), () => 61)
    const purges = Array.from({ length: 8 }, () => idempotency.purge({ batchSize: 10 }))
    const purged = (await Promise.all(purges)).reduce((sum, counts) => sum + counts.purged, 0)
    strictEqual(purged, 400)
  })

  it('do not wait for each other, and a crash of one loses nothing', async () => {
    await insertTombstones(database, numbered('key', 30), () => 61)
    const { purging, hold } = await stoppedPurge(10)
    using _ = hold
    deepStrictEqual(await idempotency.purge({ batchSize: 7 }), { purged: 20 })
    await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where application_name = 'stopped' and datname = current_database()`.execute(database.watcher)
    hold.open()
    await purging.catch(() => undefined)
    deepStrictEqual(await idempotency.purge(), { purged: 10 })
  })

  it('C10: pass over a tombstone whose foreign key the host is checking', async () => {
    await sql`create table public.receipts (
      tenant text, actor text, operation text, key text,
      foreign key (tenant, actor, operation, key) references idem.records
    )`.execute(database.watcher)
    await insertTombstones(database, ['referred to', 'free'], () => 61)
    const { tenant, actor, operation, key } = completedRow('referred to')
    const referring = await host.connect().startTransaction().execute()
    try {
      await sql`insert into public.receipts values (${tenant}, ${actor}, ${operation}, ${key})`.execute(
        referring,
      )
      const hasty = host.connect({ lock_timeout: 1 })
      const purger = createIdempotency(hasty, { tombstoneWindowMs: 60_000 })
      deepStrictEqual(await purger.purge(), { purged: 1 })
    } finally {
      await referring.rollback().execute()
    }
    deepStrictEqual(await idempotency.purge(), { purged: 1 })
  })
})
