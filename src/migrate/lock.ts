import { type Kysely, sql } from 'kysely'

import { OncelyError } from '../errors.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'

/** As Kysely's own migrator names it. */
const LOCK_ID = sql.raw('3853314791062309107')

/**
 * The lock that Kysely's own migrator takes, so that kysely-ctl and a host's migrator keep out too;
 * but for the transaction alone, whose end gives it back. One for the session would be stranded
 * behind a transaction pooler, where lock and unlock can go to different servers.
 */
export const LOCK = sql`select pg_advisory_xact_lock(${LOCK_ID})`

interface Timeouts {
  readonly lock_timeout: string
  readonly statement_timeout: string
  /** None before PostgreSQL 17. */
  readonly transaction_timeout: string | null
}

/**
 * Waits for other migrators. They may take long, and so may a migration: the role's bounds are for
 * queries, and lifted. That on locks is back before anything is changed, so that nobody queues up
 * behind us for long.
 *
 * @returns gives the role's bounds back, for a caller that goes on.
 * @throws OncelyError `migration_failed` after `waitTimeoutMs`, with the sessions that hold the lock.
 */
export async function awaitLock<DB>(
  own: Kysely<DB>,
  waitTimeoutMs: number,
): Promise<() => Promise<void>> {
  const before = await readTimeouts(own)
  await setTimeouts(own, {
    lock_timeout: `${waitTimeoutMs}ms`,
    statement_timeout: '0',
    transaction_timeout: before.transaction_timeout && '0',
  })
  const holders = await otherHolders(own)
  try {
    await LOCK.execute(own)
  } catch (cause) {
    if (sqlState(cause) !== SQLSTATE.lockNotAvailable) throw cause
    throw new OncelyError(
      'migration_failed',
      `another migrator has held the lock for ${waitTimeoutMs} ms, the session with the pid ${holders.join(', ')}: wait for it, or end it by pg_terminate_backend`,
      { cause },
    )
  }
  const { lock_timeout } = before
  await setTimeouts(own, { lock_timeout, statement_timeout: null, transaction_timeout: null })
  return () => setTimeouts(own, before)
}

async function otherHolders<DB>(own: Kysely<DB>): Promise<readonly number[]> {
  // A 64-bit key is shown in two halves.
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_locks
    where locktype = 'advisory' and granted and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${LOCK_ID}`.execute(own)
  return rows.map(({ pid }) => pid)
}

async function readTimeouts<DB>(own: Kysely<DB>): Promise<Timeouts> {
  const { rows } = await sql<Timeouts>`select
    current_setting('lock_timeout') as lock_timeout,
    current_setting('statement_timeout') as statement_timeout,
    current_setting('transaction_timeout', true) as transaction_timeout`.execute(own)
  return rows[0] as Timeouts
}

/** For the transaction alone; `null` leaves one as it is. */
async function setTimeouts<DB>(
  own: Kysely<DB>,
  timeouts: Readonly<Record<keyof Timeouts, string | null>>,
): Promise<void> {
  const settings = Object.entries(timeouts).flatMap(([name, value]) =>
    value === null ? [] : [sql`set_config(${name}, ${value}, true)`],
  )
  await sql`select ${sql.join(settings)}`.execute(own)
}
