import { isAbortedTransactionError, type Kysely, type Transaction } from 'kysely'

import { isOncelyError, OncelyError } from '../errors.ts'
import { type Bound, UNBOUNDED, within } from './bound.ts'
import { isDefiniteRefusal, SQLSTATE, sqlState } from './sqlstate.ts'

/** How a unit of work wants its transaction to end, and what it came to. */
export interface Ending<Outcome> {
  readonly end: 'commit' | 'rollback'
  readonly outcome: Outcome
}

/** What became of a transaction that did not fail. */
type Fate<Outcome> =
  | { readonly known: true; readonly outcome: Outcome }
  /** COMMIT was sent, and no answer says whether it took effect. */
  | { readonly known: false; readonly cause: unknown }

/** Thrown to end a transaction without failing it, since Kysely commits whatever returns. */
const rollBack = new Error('roll back')

/**
 * Runs one unit of work in a transaction of its own, READ COMMITTED and READ WRITE whatever the
 * role's defaults: under a stricter isolation the read behind a lost claim would not see the winner.
 *
 * What `work` throws is thrown, also when the rollback fails behind it.
 *
 * @param bound - until when COMMIT may be sent. Given up before, nothing is committed, although the
 * connection may still be busy.
 * @throws OncelyError `transaction_not_started`, before `work` was called.
 * @throws OncelyError `transaction_aborted` when COMMIT was answered by ROLLBACK.
 */
export async function transact<DB, Outcome>(
  db: Kysely<DB>,
  work: (trx: Transaction<DB>) => Promise<Ending<Outcome>>,
  bound: Bound = UNBOUNDED,
): Promise<Fate<Outcome>> {
  const unit: Unit<Outcome> = {}
  try {
    await within(bound, run(db, work, bound, unit), () => unit.ending?.end === 'commit')
  } catch (error) {
    if (unit.ending?.end === 'commit') return fateOfRefusedCommit(error)
    bound.check()
    if (!unit.begun) throw notStarted(error)
    // Otherwise a rollback: as meant, or failed, and then Kysely destroys the connection.
    if (error !== rollBack && unit.failure) markLost(unit.failure.error)
  }
  if (unit.failure) throw unit.failure.error
  return { known: true, outcome: (unit.ending as Ending<Outcome>).outcome }
}

interface Unit<Outcome> {
  begun?: true
  failure?: { readonly error: unknown }
  /** With `commit`, from the moment at which COMMIT is certain to be sent. */
  ending?: Ending<Outcome>
}

async function run<DB, Outcome>(
  db: Kysely<DB>,
  work: (trx: Transaction<DB>) => Promise<Ending<Outcome>>,
  bound: Bound,
  unit: Unit<Outcome>,
): Promise<void> {
  const inTransaction = (on: Kysely<DB>) =>
    on
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read write')
      .execute(async (trx) => {
        unit.begun = true
        try {
          const ending = await work(trx)
          bound.check()
          unit.ending = ending
        } catch (error) {
          unit.failure = { error }
        }
        if (unit.ending?.end !== 'commit') throw rollBack
      })
  // Kysely's transaction takes no signal, and waits for the pool as long as it takes.
  const { signal } = bound
  await (signal ? db.connection().execute(inTransaction, { signal }) : inTransaction(db))
}

/** Errors behind which the connection was lost, before COMMIT was sent. */
const lost = new WeakSet()

function markLost(error: unknown): void {
  if (error instanceof Object) lost.add(error)
}

/**
 * Whether a transaction certainly took no effect and may well do so the next time: a serialisation
 * failure, a deadlock, no connection, or one that was lost before COMMIT was sent.
 */
export function isPassing(error: unknown): boolean {
  const state = sqlState(error)
  if (state === SQLSTATE.serializationFailure || state === SQLSTATE.deadlockDetected) return true
  if (isOncelyError(error)) return error.code === 'transaction_not_started'
  return error instanceof Object && lost.has(error)
}

/**
 * The same for a unit of work that is safe to repeat.
 *
 * @throws OncelyError `outcome_unknown` when the answer to COMMIT was lost.
 */
export async function transactRepeatable<DB, Outcome>(
  db: Kysely<DB>,
  work: (trx: Transaction<DB>) => Promise<Ending<Outcome>>,
): Promise<Outcome> {
  const fate = await transact(db, work)
  if (fate.known) return fate.outcome
  throw new OncelyError('outcome_unknown', 'the answer to COMMIT was lost; it is safe to repeat', {
    cause: fate.cause,
  })
}

function fateOfRefusedCommit(cause: unknown): Fate<never> {
  if (isAbortedTransactionError(cause)) {
    throw new OncelyError('transaction_aborted', 'COMMIT was answered by ROLLBACK', { cause })
  }
  if (isDefiniteRefusal(cause)) throw cause
  return { known: false, cause }
}

function notStarted(cause: unknown): OncelyError {
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  return new OncelyError('transaction_not_started', `no transaction could be opened: ${reason}`, {
    cause,
  })
}
