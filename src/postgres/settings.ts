import { type RawBuilder, sql } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import type { OwnTables } from './enter.ts'

/** Where the host's `lock_timeout` waits for the claim to be over. */
const SAVED_LOCK_TIMEOUT = 'oncely.lock_timeout'

/**
 * Bounds, for this transaction alone, how long the claim waits for a lock and how long the client
 * may be silent. The host's `lock_timeout` is kept for `restoredLockTimeout`; its own shorter bound
 * on silence stays. A target list is evaluated from left to right.
 *
 * @throws OncelyError `isolation_unsupported`.
 */
export async function boundWaits(own: OwnTables, options: ResolvedOptions): Promise<void> {
  const { rows } = await own.run(
    sql<Isolation>`select
      current_setting('transaction_isolation') as isolation,
      set_config(${sql.lit(SAVED_LOCK_TIMEOUT)}, current_setting('lock_timeout'), true),
      set_config('lock_timeout', ${`${options.lockTimeoutMs}ms`}, true),
      ${silenceBound(options)}`.compile(own.tables),
  )
  refuseIsolation(rows[0])
}

/**
 * Bounds the client's silence alone, where no lock is waited for: rows that a half-open link has
 * locked are not to stay locked for hours.
 */
export async function boundSilence(own: OwnTables, options: ResolvedOptions): Promise<void> {
  await own.run(sql`select ${silenceBound(options)}`.compile(own.tables))
}

function silenceBound(options: ResolvedOptions): RawBuilder<string> {
  const idle = sql`current_setting('idle_in_transaction_session_timeout')`
  const ours = sql.val(`${options.idleInTransactionTimeoutMs}ms`)
  return sql`set_config('idle_in_transaction_session_timeout', case
        when ${idle}::interval between interval '1 microsecond' and ${ours}::interval then ${idle}
        else ${ours}
      end, true)`
}

/**
 * The same for a transaction that the host goes on with, whose silence is its own affair.
 *
 * @throws OncelyError `isolation_unsupported`.
 */
export async function boundLockWait(own: OwnTables, lockTimeoutMs: number): Promise<void> {
  const { rows } = await own.run(
    sql<Isolation>`select
      set_config(${sql.lit(SAVED_LOCK_TIMEOUT)}, current_setting('lock_timeout'), true),
      set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true),
      current_setting('transaction_isolation') as isolation`.compile(own.tables),
  )
  refuseIsolation(rows[0])
}

interface Isolation {
  readonly isolation: string
}

/** A stricter one does not show who has won a claim; a driver may ignore what it is asked for. */
function refuseIsolation(found: Isolation | undefined): void {
  if (found?.isolation === 'read committed') return
  throw new OncelyError(
    'isolation_unsupported',
    `the transaction is ${found?.isolation}, in which a claim cannot see who won: it has to be read committed`,
  )
}

/**
 * Gives the host its `lock_timeout` back, whether role, database, session or start-up set it. To be
 * evaluated where the claim has been won and nothing of the host has run yet.
 */
export const restoredLockTimeout = sql<string>`set_config('lock_timeout', current_setting(${sql.lit(SAVED_LOCK_TIMEOUT)}), true)`

/** The same as a statement of its own. */
export async function restoreLockTimeout(own: OwnTables): Promise<void> {
  await own.run(sql`select ${restoredLockTimeout}`.compile(own.tables))
}
