import { isAbortedTransactionError, type Kysely, type Transaction } from 'kysely'

import { isOncelyError, OncelyError } from '../errors.ts'
import { type Bound, UNBOUNDED, unlessAborted, untilGivenUp } from './bound.ts'
import { type ConnectionControl, controlOf } from './connection-control.ts'
import { isDefiniteRefusal, isRefusalOfCommit, SQLSTATE, sqlState } from './sqlstate.ts'
import { OVER, within } from './within.ts'

/** How a unit of work wants its transaction to end, and what it came to. */
export interface Ending<Outcome> {
  readonly end: 'commit' | 'rollback'
  readonly outcome: Outcome
}

/** What became of a transaction that did not fail. */
type Fate<Outcome> =
  | { readonly known: true; readonly outcome: Outcome }
  /** COMMIT was sent, and no answer says whether it took effect. */
  | { readonly known: false; readonly outcome: Outcome; readonly cause: unknown }

/** How long a transaction may take; as long as it takes unless given. */
interface Limits {
  /**
   * Until when COMMIT may be sent. Given up before, nothing is committed, although the connection may
   * still be busy; behind it, its answer is not waited for any longer.
   */
  readonly bound?: Bound
  /** How long COMMIT or ROLLBACK may go unanswered, which a link that is half open does for ever. */
  readonly endTimeoutMs?: number | undefined
}

interface Unit<Outcome> {
  begun?: true
  control?: ConnectionControl | undefined
  failure?: { readonly error: unknown }
  /** With `commit`, from the moment at which COMMIT is certain to be sent. */
  ending?: Ending<Outcome>
}

/** Thrown to end a transaction without failing it, since Kysely commits whatever returns. */
const rollBack = new Error('roll back')

/**
 * Runs one unit of work in a transaction of its own, READ COMMITTED and READ WRITE whatever the
 * role's defaults: under a stricter isolation the read behind a lost claim would not see the winner.
 *
 * What `work` throws is thrown, also when the rollback fails behind it.
 *
 * @throws what `bound` throws; OncelyError `transaction_not_started`, before `work` was called.
 * @throws OncelyError `transaction_aborted` when COMMIT was answered by ROLLBACK.
 */
export async function transact<DB, Outcome>(
  db: Kysely<DB>,
  work: (trx: Transaction<DB>) => Promise<Ending<Outcome>>,
  { bound = UNBOUNDED, endTimeoutMs }: Limits = {},
): Promise<Fate<Outcome>> {
  const unit: Unit<Outcome> = {}
  const worked = Promise.withResolvers<undefined>()
  const ended = run(db, unit, bound, async (trx) => {
    try {
      unit.control = await controlOf(trx)
      const ending = await work(trx)
      bound.check()
      unit.ending = ending
    } catch (error) {
      unit.failure = { error }
    }
    worked.resolve(undefined)
  }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const begunToEnd = Promise.race([worked.promise, ended])
  await untilGivenUp(bound, begunToEnd, () => unit.ending?.end === 'commit')
  const inTime = endTimeoutMs === undefined ? ended : within(endTimeoutMs, ended)
  const answer = await (unit.ending?.end === 'commit' ? unlessAborted(bound, inTime) : inTime)
  if (answer !== OVER) return fateOf(unit, answer, bound)
  const error = new OncelyError('commit_unanswered', 'COMMIT was not answered in time')
  unit.control?.abandon(error)
  return fateOf(unit, { error }, bound)
}

async function run<DB, Outcome>(
  db: Kysely<DB>,
  unit: Unit<Outcome>,
  { signal }: Bound,
  work: (trx: Transaction<DB>) => Promise<void>,
): Promise<void> {
  const inTransaction = (on: Kysely<DB>) =>
    on
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read write')
      .execute(async (trx) => {
        unit.begun = true
        await work(trx)
        if (unit.ending?.end !== 'commit') throw rollBack
      })
  // Kysely's transaction takes no signal, and waits for the pool as long as it takes.
  await (signal ? db.connection().execute(inTransaction, { signal }) : inTransaction(db))
}

function fateOf<Outcome>(
  unit: Unit<Outcome>,
  refused: { readonly error: unknown } | undefined,
  bound: Bound,
): Fate<Outcome> {
  if (refused && !unit.begun) {
    bound.check()
    throw notStarted(refused.error)
  }
  if (unit.failure) {
    // The rollback failed as well: the connection was lost.
    if (refused && refused.error !== rollBack) markLost(unit.failure.error)
    throw unit.failure.error
  }
  const { end, outcome } = unit.ending as Ending<Outcome>
  // A rollback went as it was meant, or failed: then the server ends what is left of it.
  if (!refused || end === 'rollback') return { known: true, outcome }
  const cause = refused.error
  if (isAbortedTransactionError(cause)) {
    throw new OncelyError('transaction_aborted', 'COMMIT was answered by ROLLBACK', { cause })
  }
  if (isDefinite(cause, unit.control)) throw cause
  return { known: false, outcome, cause }
}

/** On a plain dialect the error may be that of the ROLLBACK behind COMMIT, so less is certain. */
function isDefinite(cause: unknown, control: ConnectionControl | undefined): boolean {
  if (!control) return isDefiniteRefusal(cause)
  return control.isAnswerToCommit(cause) && isRefusalOfCommit(cause)
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
  endTimeoutMs?: number,
): Promise<Outcome> {
  const fate = await transact(db, work, { endTimeoutMs })
  if (fate.known) return fate.outcome
  throw new OncelyError('outcome_unknown', 'the answer to COMMIT was lost; it is safe to repeat', {
    cause: fate.cause,
  })
}

function notStarted(cause: unknown): OncelyError {
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  return new OncelyError('transaction_not_started', `no transaction could be opened: ${reason}`, {
    cause,
  })
}
