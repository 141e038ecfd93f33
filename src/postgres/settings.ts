import { type RawBuilder, sql } from 'kysely'

import type { ResolvedOptions } from '../options.ts'
import type { OwnTables } from './enter.ts'

/** Where the host's `lock_timeout` waits for the claim to be over. */
const SAVED_LOCK_TIMEOUT = 'oncely.lock_timeout'

/**
 * Bounds, for this transaction alone, how long the claim waits for a lock and how long the client
 * may be silent. The host's `lock_timeout` is kept for `restoredLockTimeout`; its own shorter bound
 * on silence stays. A target list is evaluated from left to right.
 */
export async function boundWaits(own: OwnTables, options: ResolvedOptions): Promise<void> {
  await own.run(
    sql`select
      set_config(${sql.lit(SAVED_LOCK_TIMEOUT)}, current_setting('lock_timeout'), true),
      set_config('lock_timeout', ${`${options.lockTimeoutMs}ms`}, true),
      ${silenceBound(options)}`.compile(own.tables),
  )
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
 * @returns the isolation level that the host has opened it with.
 */
export async function boundLockWait(own: OwnTables, lockTimeoutMs: number): Promise<string> {
  const { rows } = await own.run(
    sql<{ isolation: string }>`select
      set_config(${sql.lit(SAVED_LOCK_TIMEOUT)}, current_setting('lock_timeout'), true),
      set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true),
      current_setting('transaction_isolation') as isolation`.compile(own.tables),
  )
  return String(rows[0]?.isolation)
}

/**
 * Gives the host its `lock_timeout` back, whether role, database, session or start-up set it. To be
 * evaluated where the claim has been won and nothing of the host has run yet.
 */
export const restoredLockTimeout = sql<string>`set_config('lock_timeout', current_setting(${sql.lit(SAVED_LOCK_TIMEOUT)}), true)`
