import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type Idempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const host = notesHost(testDatabase())
const admin = host.connect()

function caller(applicationName: string): Idempotency<NotesDatabase> {
  const db = host.connect({ application_name: applicationName, max: 1 })
  return createIdempotency(db, { lockTimeoutMs: PATIENCE_MS })
}

describe('COMMIT is refused by PostgreSQL: definite, and thrown as it is', () => {
  it('by a deferred constraint of the host, 23503', async () => {
    await sql`create table parents (id int primary key)`.execute(admin)
    await sql`create table children (
      parent int constraint of_parent references parents deferrable initially deferred
    )`.execute(admin)
    const idempotency = caller('deferred')
    const call = (parent: number) =>
      idempotency.withIdempotency(scope, 'orphan', one, async (tx, context) => {
        await writeNote(tx, context)
        await sql`insert into children values (${parent})`.execute(tx)
      })
    const failure = (await failureOf(call(1))) as { code: string; constraint: string }
    deepStrictEqual([failure.code, failure.constraint], ['23503', 'of_parent'])
    deepStrictEqual(await host.left('orphan'), nothing)
    await sql`insert into parents values (1)`.execute(admin)
    strictEqual((await call(1)).kind, 'executed')
    deepStrictEqual(await host.left('orphan'), written)
  })
})

describe('COMMIT is under way', () => {
  // A deferred trigger of the host's that waits for a lock makes COMMIT last.
  async function duringCommit(key: string, stop: string) {
    const trigger = sql`
      create or replace function wait_for_lock() returns trigger language plpgsql as $$
        begin
          if new.body = 'slow' then perform pg_advisory_xact_lock_shared(1); end if;
          return null;
        end $$;
      drop trigger if exists slow_commit on notes;
      create constraint trigger slow_commit after insert on notes
        deferrable initially deferred for each row execute function wait_for_lock()`
    await trigger.execute(admin)
    const idempotency = caller(key)
    const slow = () =>
      idempotency.withIdempotency(scope, key, one, (tx, context) => writeNote(tx, context, 'slow'))
    const first = await admin.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(1)`.execute(tx)
      const call = beside(slow())
      await host.untilWaiting(key)
      await sql`
        select ${sql.id(stop)}(pid) from pg_stat_activity
        where application_name = ${key} and datname = current_database()`.execute(admin)
      return Promise.allSettled([call])
    })
    return { first: first[0], slow }
  }

  it('and cancelled, 57014, as the ROLLBACK behind it could be too: looked up, and thrown', async () => {
    const { first, slow } = await duringCommit('cancelled', 'pg_cancel_backend')
    const reason: unknown = first.status === 'rejected' && first.reason
    strictEqual((reason as { code?: string }).code, '57014')
    strictEqual((await slow()).kind, 'executed')
    deepStrictEqual((await host.left('cancelled')).notes, ['slow'])
  })

  it('and the server ends the connection, 57P01: looked up, and thrown', async () => {
    const { first, slow } = await duringCommit('terminated', 'pg_terminate_backend')
    strictEqual(first.status, 'rejected')
    strictEqual((await slow()).kind, 'executed')
    deepStrictEqual((await host.left('terminated')).notes, ['slow'])
  })
})
