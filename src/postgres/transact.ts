import { isAbortedTransactionError, type Kysely, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { type Bound, UNBOUNDED, unlessAborted, untilGivenUp } from './bound.ts'
import { type ConnectionControl, controlOf } from './connection-control.ts'
import { isDefiniteRefusal, isRefusalOfCommit } from './sqlstate.ts'
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
  /** Told when the connection was lost before COMMIT was sent, so that nothing took effect. */
  readonly onLost?: () => void
}

/** Where COMMIT has no bound, a call that was given up has one: nobody waits for it any more. */
const GIVEN_UP_MS = 10_000

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
  { bound = UNBOUNDED, endTimeoutMs, onLost }: Limits = {},
): Promise<Fate<Outcome>> {
  const unit: Unit<Outcome> = {}
  const worked = Promise.withResolvers<undefined>()
  const abandoned = Promise.withResolvers<never>()
  abandoned.promise.catch(() => undefined)
  const ended = run(db, unit, bound, async (trx) => {
    try {
      unit.control = await controlOf(trx)
      const ending = await Promise.race([work(trx), abandoned.promise])
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
  const abandon = () => {
    const error = new OncelyError('commit_unanswered', 'COMMIT was not answered in time')
    unit.control?.abandon(error)
    abandoned.reject(error)
    return error
  }
  try {
    const begunToEnd = Promise.race([worked.promise, ended])
    // Behind this nothing gives it up: the check before `ending` was the last one.
    await untilGivenUp(bound, begunToEnd)
  } catch (error) {
    // The caller has gone. What still holds the connection then, such as a stalled statement, has as
    // long as a COMMIT would have.
    void within(endTimeoutMs ?? GIVEN_UP_MS, ended).then((answer) => answer === OVER && abandon())
    throw error
  }
  const inTime = endTimeoutMs === undefined ? ended : within(endTimeoutMs, ended)
  const answer = await unlessAborted(bound, inTime)
  return fateOf(unit, answer === OVER ? { error: abandon() } : answer, bound, onLost)
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
  onLost: (() => void) | undefined,
): Fate<Outcome> {
  if (refused && !unit.begun) {
    bound.check()
    onLost?.()
    throw notStarted(refused.error)
  }
  if (unit.failure) {
    // The rollback failed as well.
    if ((refused && refused.error !== rollBack) || unit.control?.tainted) onLost?.()
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
