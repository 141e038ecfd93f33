import { isAbortedTransactionError, type Kysely, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { isDefiniteRefusal } from './sqlstate.ts'

/** How a unit of work wants its transaction to end, and what it came to. */
interface Ending<Outcome> {
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
 * @throws OncelyError `transaction_not_started`, before `work` was called.
 * @throws OncelyError `transaction_aborted` when COMMIT was answered by ROLLBACK.
 */
export async function transact<DB, Outcome>(
  db: Kysely<DB>,
  work: (trx: Transaction<DB>) => Promise<Ending<Outcome>>,
): Promise<Fate<Outcome>> {
  const unit: { begun?: true; failure?: { error: unknown }; ending?: Ending<Outcome> } = {}
  try {
    await db
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read write')
      .execute(async (trx) => {
        unit.begun = true
        try {
          unit.ending = await work(trx)
        } catch (error) {
          unit.failure = { error }
        }
        if (unit.ending?.end !== 'commit') throw rollBack
      })
  } catch (error) {
    if (!unit.begun) throw notStarted(error)
    if (unit.ending?.end === 'commit') return fateOfRefusedCommit(error)
    // Otherwise a rollback: as meant, or failed, and then Kysely destroys the connection.
  }
  if (unit.failure) throw unit.failure.error
  return { known: true, outcome: (unit.ending as Ending<Outcome>).outcome }
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
