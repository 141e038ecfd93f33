import { type RawBuilder, sql } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import type { OwnTables } from './enter.ts'
import { violatesCheck } from './sqlstate.ts'
import { Statement, type ValueOf } from './statement.ts'

/** Where the host's `lock_timeout` waits for the claim to be over. */
const SAVED_LOCK_TIMEOUT = 'oncely.lock_timeout'

/** Which waits are to be bounded: not the silence of a transaction that the host goes on with. */
export type Waits = 'lock and silence' | 'lock' | 'none'

/** The bounds of a transaction, as PostgreSQL takes them. */
export interface Bounds {
  readonly lockTimeout: string
  readonly silence: string
}

export function boundsOf(options: ResolvedOptions): Bounds {
  return {
    lockTimeout: `${options.lockTimeoutMs}ms`,
    silence: `${options.idleInTransactionTimeoutMs}ms`,
  }
}

/**
 * Bounds, for this transaction alone, how long the claim waits for a lock and how long the client
 * may be silent, as a part of the claim itself: what is inserted is evaluated before anything is
 * waited for, and the branches of a CASE in their order. The host's `lock_timeout` is kept for
 * `restoredLockTimeout`; its own shorter bound on silence stays.
 *
 * @returns an expression that is the time of the statement's start.
 */
export function boundWaitsFirst(
  waits: Waits,
  value: (name: keyof Bounds) => RawBuilder<string>,
): RawBuilder<Date> {
  if (waits === 'none') return sql`statement_timestamp()`
  const silence =
    waits === 'lock' ? sql`` : sql`when ${silenceBound(value('silence'))} is null then null`
  return sql`case
    when ${savedLockTimeout} is null then null
    when set_config('lock_timeout', ${value('lockTimeout')}, true) is null then null
    ${silence}
    else statement_timestamp() end`
}

const savedLockTimeout = sql`set_config(${sql.lit(SAVED_LOCK_TIMEOUT)}, current_setting('lock_timeout'), true)`

/** Claims a key in no isolation but read committed: any other word violates the check of `state`. */
export const claimedIfReadCommitted = sql<string>`case current_setting('transaction_isolation')
    when 'read committed' then 'claimed' else 'not read committed' end`

/** The error of a claim that was made in another isolation; others stay as they are. */
export function isolationError(error: unknown): unknown {
  if (!violatesCheck(error, 'records_state_check')) return error
  return isolationUnsupported('not read committed', error)
}

/**
 * The same as a statement of its own, where something is read before anything is claimed.
 *
 * @throws OncelyError `isolation_unsupported`.
 */
export async function boundWaits(own: OwnTables, options: ResolvedOptions): Promise<void> {
  const { rows } = await own.perform(boundStatement, boundsOf(options))
  const [found] = rows
  if (found?.isolation !== 'read committed') throw isolationUnsupported(found?.isolation)
}

// A target list is evaluated from left to right.
const boundStatement = new Statement((tables, value: ValueOf<Bounds>) =>
  sql<{ isolation: string }>`select
    current_setting('transaction_isolation') as isolation,
    ${savedLockTimeout},
    set_config('lock_timeout', ${value('lockTimeout')}, true),
    ${silenceBound(value('silence'))}`.compile(tables),
)

/**
 * Bounds the client's silence alone, where no lock is waited for: rows that a half-open link has
 * locked are not to stay locked for hours.
 */
export async function boundSilence(
  own: OwnTables,
  { idleInTransactionTimeoutMs }: Pick<ResolvedOptions, 'idleInTransactionTimeoutMs'>,
): Promise<void> {
  const silence = `${idleInTransactionTimeoutMs}ms`
  await own.run(sql`select ${silenceBound(sql.val(silence))}`.compile(own.tables))
}

function silenceBound(ours: RawBuilder<string>): RawBuilder<string> {
  const idle = sql`current_setting('idle_in_transaction_session_timeout')`
  return sql`set_config('idle_in_transaction_session_timeout', case
        when ${idle}::interval between interval '1 microsecond' and ${ours}::interval then ${idle}
        else ${ours}
      end, true)`
}

/** A stricter one does not show who has won a claim; a driver may ignore what it is asked for. */
function isolationUnsupported(found: string | undefined, cause?: unknown): OncelyError {
  return new OncelyError(
    'isolation_unsupported',
    `the transaction is ${found}, in which a claim cannot see who won: it has to be read committed`,
    { cause },
  )
}

/**
 * Gives the host its `lock_timeout` back, whether role, database, session or start-up set it. To be
 * evaluated where the claim has been won and nothing of the host has run yet.
 */
export const restoredLockTimeout = sql<string>`set_config('lock_timeout', current_setting(${sql.lit(SAVED_LOCK_TIMEOUT)}), true)`

/** The same as a statement of its own. */
export async function restoreLockTimeout(own: OwnTables): Promise<void> {
  await own.perform(restoringStatement, {})
}

const restoringStatement = new Statement((tables) =>
  sql`select ${restoredLockTimeout}`.compile(tables),
)
