import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost } from '../support/notes-host.ts'
import { completedRow } from '../support/record-rows.ts'
import { insertDue, keysIn, numbered } from '../support/sweeping.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect({ max: 8 }))

beforeEach(() => sql`truncate idem.records cascade`.execute(database.watcher))

/** A sweeper that stops when its batch of that number is done and not yet committed. */
async function stoppedIn(batch: number, batchSize: number, signal?: AbortSignal) {
  const hold = gate()
  let batches = 0
  const db = host.connect({
    application_name: 'stopped',
    log: async ({ query }) => {
      if (/update "idem"\."records"/.test(query.sql) && (batches += 1) === batch) await hold.pass()
    },
  })
  const sweeping = beside(createIdempotency(db).sweep({ batchSize, signal }))
  await stopsAt(hold, sweeping)
  return { sweeping, hold }
}

describe('several sweepers at once', () => {
  it('clear each record once, all of them together', async () => {
    await insertDue(database, numbered('key', 400))
    const sweeps = Array.from({ length: 8 }, () => idempotency.sweep({ batchSize: 10 }))
    const cleared = (await Promise.all(sweeps)).reduce((sum, counts) => sum + counts.cleared, 0)
    strictEqual(cleared, 400)
    deepStrictEqual(await keysIn(database, 'completed'), [])
  })

  it('do not wait for each other: one goes past the batch that another has open', async () => {
    await insertDue(database, numbered('key', 30))
    const { sweeping, hold } = await stoppedIn(1, 10)
    using _ = hold
    deepStrictEqual(await idempotency.sweep({ batchSize: 7 }), { cleared: 20 })
    strictEqual((await keysIn(database, 'completed')).length, 10)
    hold.open()
    deepStrictEqual(await sweeping, { cleared: 10 })
    deepStrictEqual(await keysIn(database, 'completed'), [])
  })
})

describe('a sweep that is ended', () => {
  it('by its signal: commits the batch under way, begins no other, says what was done', async () => {
    await insertDue(database, numbered('key', 30))
    const stop = new AbortController()
    const { sweeping, hold } = await stoppedIn(2, 10, stop.signal)
    using _ = hold
    stop.abort()
    hold.open()
    deepStrictEqual(await sweeping, { cleared: 20 })
    strictEqual((await keysIn(database, 'completed')).length, 10)
  })

  it('before it began: does nothing', async () => {
    await insertDue(database, ['due'])
    deepStrictEqual(await idempotency.sweep({ signal: AbortSignal.abort() }), { cleared: 0 })
    deepStrictEqual(await keysIn(database, 'completed'), ['due'])
  })

  it('by what onBatch throws: the batch stays done', async () => {
    await insertDue(database, ['one', 'two'])
    const own = new Error('own')
    const onBatch = () => {
      throw own
    }
    strictEqual(await failureOf(idempotency.sweep({ batchSize: 1, onBatch })), own)
    strictEqual((await keysIn(database, 'expired')).length, 1)
  })

  it('by a crash: loses nothing but the batch under way, and the next one goes on', async () => {
    await insertDue(database, numbered('key', 30))
    const { sweeping, hold } = await stoppedIn(2, 10)
    using _ = hold
    await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where application_name = 'stopped' and datname = current_database()`.execute(database.watcher)
    hold.open()
    const failure = await failureOf(sweeping)
    strictEqual(isOncelyError(failure) && failure.code, 'outcome_unknown')
    strictEqual((await keysIn(database, 'expired')).length, 10)
    deepStrictEqual(await idempotency.sweep({ batchSize: 10 }), { cleared: 20 })
  })
})

describe('a batch that is open', () => {
  it('C10: is neither held up by a foreign key of the host, nor holds one up', async () => {
    await sql`create table if not exists public.receipts (
      tenant text, actor text, operation text, key text,
      foreign key (tenant, actor, operation, key) references idem.records
    )`.execute(database.watcher)
    await insertDue(database, ['referred to'])
    const { tenant, actor, operation, key } = completedRow('referred to')
    const refer = sql`insert into public.receipts values (${tenant}, ${actor}, ${operation}, ${key})`
    const referring = await host.connect().startTransaction().execute()
    try {
      // Holds the record FOR KEY SHARE, which a sweeper by FOR UPDATE would pass over.
      await refer.execute(referring)
      const { sweeping, hold } = await stoppedIn(1, 10)
      using _ = hold
      await refer.execute(host.connect({ lock_timeout: 1 }))
      hold.open()
      deepStrictEqual(await sweeping, { cleared: 1 })
    } finally {
      await referring.rollback().execute()
    }
  })

  it('bounds how long its client may be silent, as a call does', async () => {
    await sql`
      create table public.bounds (bound text);
      create function public.note_bound() returns trigger language plpgsql as $$ begin
        insert into public.bounds values (current_setting('idle_in_transaction_session_timeout'));
        return new;
      end $$;
      create trigger note_bound before update on idem.records
        for each row execute function public.note_bound()`.execute(database.watcher)
    await insertDue(database, ['due'])
    await idempotency.withOptions({ idleInTransactionTimeoutMs: 7_000 }).sweep()
    const { rows } = await sql`select bound from public.bounds`.execute(database.watcher)
    deepStrictEqual(rows, [{ bound: '7s' }])
  })
})
