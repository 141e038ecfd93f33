import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { type Kysely, sql, type Transaction } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { type HostName, hosts } from '../support/hosts.ts'
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

const phases = ['claim', 'fn', 'store', 'COMMIT'] as const
type Phase = (typeof phases)[number]

/** A key begins with the phase in which its call waits for the lock that `withLock` has. */
let prepared: Promise<unknown> | undefined
beforeEach(async () => {
  prepared ??= sql`
    create function public.wait_for_lock() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
    create trigger slow_claim before insert on idem.records for each row
      when (new.key like 'claim%') execute function public.wait_for_lock();
    create trigger slow_store before insert on idem.outbox for each row
      when (new.aggregateid like 'store%') execute function public.wait_for_lock();
    create constraint trigger slow_commit after insert on idem.outbox
      deferrable initially deferred for each row
      when (new.aggregateid like 'COMMIT%') execute function public.wait_for_lock()`.execute(admin)
  await prepared
})

async function withLock<T>(run: () => Promise<T>): Promise<T> {
  return admin.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(tx)
    return run()
  })
}

/** Lets a function of the server's strike at the session that waits there. */
async function strike(key: string, by: 'pg_cancel_backend' | 'pg_terminate_backend') {
  await host.untilWaiting(key)
  await sql`select ${sql.id(by)}(pid) from pg_stat_activity
    where application_name = ${key} and datname = current_database()`.execute(admin)
}

/** Waits until the server has ended the session, for whatever reason. */
async function untilEnded(key: string): Promise<void> {
  const sessions = sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity where application_name = ${key}`
  while ((await sessions.execute(admin)).rows[0]?.count !== 0) await new Promise(setImmediate)
}

interface Failure {
  /** What the host sets. */
  readonly connect: object
  readonly idleInTransactionTimeoutMs?: number
  /** What happens while the call waits. */
  readonly meanwhile: (key: string) => Promise<unknown>
  readonly inFunction: (tx: Transaction<NotesDatabase>, key: string) => Promise<unknown>
  readonly phases: readonly Phase[]
  /** SQLSTATEs of what is thrown; undefined is the client's own, or a lost connection. */
  readonly codes: (phase: Phase, name: HostName) => readonly (string | undefined)[]
}

const nobody = () => Promise.resolve()
const waitForLock = (tx: Transaction<NotesDatabase>) =>
  sql`select pg_advisory_xact_lock_shared(1)`.execute(tx)

const failures: Record<string, Failure> = {
  query_timeout: {
    connect: { query_timeout: 400 },
    meanwhile: nobody,
    inFunction: waitForLock,
    phases,
    codes: () => [undefined],
  },
  statement_timeout: {
    connect: { statement_timeout: 400 },
    meanwhile: nobody,
    inFunction: waitForLock,
    // Not in COMMIT, see below.
    phases: ['claim', 'fn', 'store'],
    codes: () => ['57014'],
  },
  'cancelled backend': {
    connect: {},
    meanwhile: (key) => strike(key, 'pg_cancel_backend'),
    inFunction: waitForLock,
    // Of COMMIT, see the tests of one that is refused.
    phases: ['claim', 'fn', 'store'],
    codes: () => ['57014'],
  },
  'administrator shutdown': {
    connect: {},
    meanwhile: (key) => strike(key, 'pg_terminate_backend'),
    inFunction: waitForLock,
    phases,
    // On a plain dialect what the ROLLBACK failed with takes the place of what COMMIT did.
    codes: (phase, name) => [phase === 'COMMIT' && name === 'plain' ? undefined : '57P01'],
  },
  // No other phase lies idle; of COMMIT, see what is half open in the tests of lost commits.
  'idle-in-transaction timeout': {
    connect: {},
    idleInTransactionTimeoutMs: 200,
    meanwhile: nobody,
    inFunction: async (tx, key) => {
      await untilEnded(key)
      await sql`select 1`.execute(tx)
    },
    phases: ['fn'],
    // The server's farewell may be taken for the answer to the next statement.
    codes: () => ['25P03', undefined],
  },
}

/** Two statements, one behind the other, that are not in one transaction. */
async function isOutOfTransactions(db: Kysely<NotesDatabase>): Promise<boolean> {
  const started = sql<{ at: string }>`select transaction_timestamp()::text as at`
  const [first, second] = [await started.execute(db), await started.execute(db)]
  return first.rows[0]?.at !== second.rows[0]?.at
}

for (const name of ['plain', 'oncelyDialect'] as const) {
  for (const [what, failure] of Object.entries(failures)) {
    describe(`${what}, ${name}: a definite error, thrown as it is, the key is free`, () => {
      for (const phase of failure.phases) {
        it(`D3: in ${phase}`, async () => {
          const key = `${phase} ${what} ${name}`
          const db = host.connect({
            max: 1,
            application_name: key,
            manners: hosts[name],
            ...failure.connect,
          })
          const { idleInTransactionTimeoutMs = PATIENCE_MS } = failure
          const idempotency = createIdempotency(db, {
            lockTimeoutMs: PATIENCE_MS,
            // A COMMIT that waits for the lock is ended after half of it.
            resolveTimeoutMs: 2_000,
            idleInTransactionTimeoutMs,
          })
          const call = (inFunction: Failure['inFunction']) =>
            idempotency.withIdempotency(scope, key, one, async (tx, context) => {
              await writeNote(tx, context)
              await inFunction(tx, key)
              return 'note'
            })
          const thrown = (await withLock(async () => {
            const pending = beside(call(phase === 'fn' ? failure.inFunction : nobody))
            await failure.meanwhile(key)
            return failureOf(pending)
          })) as { code?: string; severity?: string }
          const code = thrown.severity && thrown.code
          ok(failure.codes(phase, name).includes(code), String(code))
          strictEqual(await isOutOfTransactions(db), true)
          await untilGone(key)
          deepStrictEqual(await host.left(key), nothing)
          strictEqual((await call(nobody)).kind, 'executed')
          deepStrictEqual(await host.left(key), written)
        })
      }
    })
  }
}

/** Waits until nobody holds the key: a client that gave up has left its statement under way. */
async function untilGone(key: string): Promise<void> {
  const open = sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where application_name = ${key} and backend_xid is not null`
  while ((await open.execute(admin)).rows[0]?.count !== 0) await new Promise(setImmediate)
}

describe('statement_timeout in COMMIT', () => {
  it('does not come: PostgreSQL puts it away before, and the call executes', async () => {
    const key = 'COMMIT beyond'
    const db = host.connect({ max: 1, application_name: key, statement_timeout: 200 })
    const idempotency = createIdempotency(db)
    const call = await withLock(async () => {
      const pending = beside(idempotency.withIdempotency(scope, key, one, writeNote))
      await host.untilWaiting(key)
      const late = sql<{ late: boolean }>`
        select query = 'commit' and clock_timestamp() - query_start > interval '400 ms' as late
        from pg_stat_activity where application_name = ${key}`
      while (!(await late.execute(admin)).rows[0]?.late) await new Promise(setImmediate)
      return { pending }
    })
    strictEqual((await call.pending).kind, 'executed')
    deepStrictEqual(await host.left(key), written)
  })
})
