import type { Kysely, Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { type Bound, UNBOUNDED, unlessAborted, untilGivenUp } from './bound.ts'
import { type Ending, runLast } from './ending.ts'
import { enterHeld, type OwnTables } from './enter.ts'
import { type Fate, fateOf, rollBack, type Unit } from './fate.ts'
import { HeldConnection, Unprepared } from './held-connection.ts'
import { withExecutor } from './with-executor.ts'
import { OVER, within } from './within.ts'

/** How long a transaction may take; as long as it takes unless given. */
interface Limits {
  /**
   * Until when COMMIT may be sent. Given up before, nothing is committed, although the connection may
   * still be busy; behind it, its answer is not waited for any longer.
   */
  readonly bound?: Bound
  /** How long COMMIT or ROLLBACK may go unanswered, which a link that is half open does for ever. */
  readonly endTimeoutMs?: number | undefined
  /**
   * Where statements share turns, BEGIN is sent and not waited for. What does not travel with a BEGIN that
   * fails would commit by itself, so only for work that begins by a claim, which the database refuses to
   * commit without an outcome, and runs nothing of the host's before that is answered.
   */
  readonly beginsByClaim?: boolean
  /** Told when the connection was lost before COMMIT was sent, so that nothing took effect. */
  readonly onLost?: (() => void) | undefined
}

/** Where COMMIT has no bound, a call that was given up has one: nobody waits for it any more. */
const GIVEN_UP_MS = 10_000

/** One unit of work, in a transaction of its own on which nothing else runs. */
type Work<DB, Outcome> = (trx: Transaction<DB>, own: OwnTables) => Promise<Ending<Outcome>>

/**
 * Runs one unit of work in a transaction of its own, READ COMMITTED and READ WRITE whatever the
 * role's defaults: under a stricter isolation the read behind a lost claim would not see the winner.
 *
 * What `work` throws is thrown, also when the rollback fails behind it.
 *
 * @throws what `bound` throws; OncelyError `transaction_not_started`, before `work` has changed anything.
 * @throws OncelyError `transaction_aborted` when COMMIT was answered by ROLLBACK.
 */
export async function transact<DB, Outcome>(
  db: Kysely<DB>,
  schema: string,
  work: Work<DB, Outcome>,
  limits: Limits = {},
): Promise<Fate<Outcome>> {
  try {
    return await transactOnce(db, schema, work, limits)
  } catch (error) {
    if (!(error instanceof Unprepared)) throw error
  }
  // Refused before anything of the host's has run, and from here on nothing is prepared.
  return transactOnce(db, schema, work, limits)
}

async function transactOnce<DB, Outcome>(
  db: Kysely<DB>,
  schema: string,
  work: Work<DB, Outcome>,
  { bound = UNBOUNDED, endTimeoutMs, beginsByClaim, onLost }: Limits,
): Promise<Fate<Outcome>> {
  const unit: Unit<Outcome> = {}
  const worked = Promise.withResolvers<undefined>()
  const abandoned = Promise.withResolvers<never>()
  abandoned.promise.catch(() => undefined)
  const ended = run(db, unit, bound, beginsByClaim, async (trx, held) => {
    try {
      const own = enterHeld(held, schema)
      const ending = await Promise.race([work(trx, own), abandoned.promise])
      if (!held.sharesTurns) await runLast(own, ending)
      bound.check()
      if (ending.end === 'commit' && ending.last && held.sharesTurns) {
        held.control?.commitBehind(ending.last.queries, ending.last.failed)
      }
      if (ending.end === 'rollback' && ending.isAnswer) held.control?.rollBackBehind()
      unit.ending = ending
    } catch (error) {
      // Whether it has begun at all decides what that is told as.
      await held.control?.begun
      unit.failure = { error }
    }
    worked.resolve(undefined)
  }).then(
    () => undefined,
    (error: unknown) => {
      // Where it never came to the work.
      worked.resolve(undefined)
      return { error }
    },
  )
  const abandon = () => {
    const error = new OncelyError('commit_unanswered', 'COMMIT was not answered in time')
    unit.held?.control?.abandon(error)
    abandoned.reject(error)
    return error
  }
  const endUnheard = (timeoutMs: number) =>
    void within(timeoutMs, ended).then((answer) => answer === OVER && abandon())
  try {
    // Behind this nothing gives it up: the check before `ending` was the last one.
    await untilGivenUp(bound, worked.promise)
  } catch (error) {
    // The caller has gone. What still holds the connection then, such as a stalled statement, has as
    // long as a COMMIT would have.
    endUnheard(endTimeoutMs ?? GIVEN_UP_MS)
    throw error
  }
  const { ending } = unit
  if (ending?.end === 'rollback' && ending.isAnswer) {
    if (!unit.held?.control?.rollsBackBehind) endUnheard(endTimeoutMs ?? GIVEN_UP_MS)
    return { known: true, outcome: ending.outcome }
  }
  const inTime = endTimeoutMs === undefined ? ended : within(endTimeoutMs, ended)
  const answer = await unlessAborted(bound, inTime)
  return fateOf(unit, answer === OVER ? { error: abandon() } : answer, bound, onLost)
}

async function run<DB, Outcome>(
  db: Kysely<DB>,
  unit: Unit<Outcome>,
  { signal }: Bound,
  beginsByClaim: boolean | undefined,
  work: (trx: Transaction<DB>, held: HeldConnection) => Promise<void>,
): Promise<void> {
  const onConnection = async (on: Kysely<DB>) => {
    const held = await HeldConnection.of(on)
    unit.held = held
    if (beginsByClaim) held.control?.beginAhead()
    const trx = withExecutor<DB>(on.getExecutor().withConnectionProvider(held))
    return on
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read write')
      .execute(async () => {
        unit.begun = true
        await work(trx, held)
        if (unit.ending?.end !== 'commit') throw rollBack
      })
  }
  // Kysely's transaction takes no signal, and waits for the pool as long as it takes.
  await db.connection().execute(onConnection, signal && { signal })
}

/**
 * The same for a unit of work that is safe to repeat.
 *
 * @throws OncelyError `outcome_unknown` when the answer to COMMIT was lost.
 */
export async function transactRepeatable<DB, Outcome>(
  db: Kysely<DB>,
  schema: string,
  work: Work<DB, Outcome>,
  endTimeoutMs?: number,
): Promise<Outcome> {
  const fate = await transact(db, schema, work, { endTimeoutMs })
  if (fate.known) return fate.outcome
  throw new OncelyError('outcome_unknown', 'the answer to COMMIT was lost; it is safe to repeat', {
    cause: fate.cause,
  })
}
