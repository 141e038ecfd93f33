import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'

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
// pg's own: the client stops waiting, and the statement goes on.
const impatient = createIdempotency(
  host.connect({ max: 1, query_timeout: 500, application_name: 'impatient' }),
  {
    lockTimeoutMs: PATIENCE_MS,
  },
)
const patient = createIdempotency(host.connect(), { lockTimeoutMs: PATIENCE_MS })

type Step = (tx: Transaction<NotesDatabase>) => Promise<unknown>
const wait: Step = (tx) => sql`select pg_advisory_xact_lock_shared(1)`.execute(tx)
const waitAtCommit: Step = (tx) => sql`insert into slow_commits values (1)`.execute(tx)

/** Runs with a lock in the way, on which `wait` and `waitAtCommit` wait. */
async function withLockInTheWay<T>(run: () => Promise<T>): Promise<T> {
  return admin.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(tx)
    return run()
  })
}

/** Waits until a session of that application has last asked about a transaction. */
async function untilAsked(applicationName: string): Promise<void> {
  const asked = sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where application_name = ${applicationName} and query like '%backend_xid%'`
  while ((await asked.execute(admin)).rows[0]?.count === 0) await new Promise(setImmediate)
}

function call(key: string, by: typeof patient, step?: Step) {
  const pending = by.withIdempotency(scope, key, one, async (tx, context) => {
    await writeNote(tx, context)
    await step?.(tx)
    return 'done'
  })
  return beside(pending)
}

describe('the client stops waiting for an answer', () => {
  it('D3: to a statement of the function: thrown as it is, definite, and the connection destroyed', async () => {
    const failure = await withLockInTheWay(() => failureOf(call('inside', impatient, wait)))
    strictEqual(failure instanceof Error && !isOncelyError(failure), true)
    // The server ends the transaction once it looks at the connection again.
    strictEqual((await call('inside', patient)).kind, 'executed')
    deepStrictEqual(await host.left('inside'), written)
    strictEqual((await call('inside', impatient)).kind, 'replayed')
  })

  it('D3: to a statement that the function swallows: nothing is kept that was not answered', async () => {
    const failure = await withLockInTheWay(() =>
      failureOf(call('swallowed', impatient, (tx) => wait(tx).catch(() => undefined))),
    )
    strictEqual(failure instanceof Error, true)
    deepStrictEqual(await host.left('swallowed'), nothing)
    strictEqual((await call('swallowed', patient)).kind, 'executed')
  })

  it('D3: to a statement behind which the function refuses: the refusal is not made final', async () => {
    const failure = await failureOf(
      impatient.withIdempotency(scope, 'refused', one, async (tx, context) => {
        // Gone by the time the function returns, so that the server would take the refusal.
        await withLockInTheWay(() => wait(tx).catch(() => undefined))
        await sql`select 1`.execute(tx)
        return context.reject('unavailable')
      }),
    )
    strictEqual(failure instanceof Error && !isOncelyError(failure), true)
    deepStrictEqual(await host.left('refused'), nothing)
    strictEqual((await call('refused', patient)).kind, 'executed')
  })

  it('D3: to COMMIT: looked up, and executed once the server has gone on', async () => {
    await sql`
      create table slow_commits (n int);
      create function wait_for_lock() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
      create constraint trigger slow_commit after insert on slow_commits
        deferrable initially deferred for each row execute function wait_for_lock()
    `.execute(admin)
    let pending: ReturnType<typeof call> | undefined
    await withLockInTheWay(async () => {
      pending = call('commit', impatient, waitAtCommit)
      // It asks on a connection of its own, so its time-out has come.
      await untilAsked('impatient')
    })
    const recovered = { ok: true, kind: 'executed', value: 'done', recovered: true }
    deepStrictEqual(await pending, recovered)
    deepStrictEqual(await call('commit', patient), { ok: true, kind: 'replayed', value: 'done' })
    deepStrictEqual(await host.left('commit'), written)
    strictEqual((await call('commit', impatient)).kind, 'replayed')
  })
})
