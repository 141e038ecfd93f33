import { randomUUID } from 'node:crypto'

import type { Kysely, Transaction } from 'kysely'

import { attempt, lockFor } from './call/attempt.ts'
import { type CallOptions, deadlineOf } from './call/deadline.ts'
import { duplicateBehind } from './call/duplicate.ts'
import type { BusinessFunction, Run } from './call/execute.ts'
import { join } from './call/join.ts'
import { type Observed, observed } from './call/observe.ts'
import { readFirst } from './call/read-first.ts'
import { recover } from './call/recover.ts'
import { replayIn } from './call/replay.ts'
import { retried } from './call/retry.ts'
import { OncelyError } from './errors.ts'
import { checkFingerprints, type Fingerprints } from './fingerprint/fingerprint.ts'
import type { Operation } from './operation.ts'
import type { OwnTables } from './postgres/enter.ts'
import { boundWaits } from './postgres/settings.ts'
import { transact } from './postgres/transact.ts'
import type { Claim } from './records/claim.ts'
import { readRecord } from './records/read.ts'
import type { Applied, Denied, Duplicate, QuotaExceeded, Result } from './result.ts'
import { checkKey, checkScope, type Scope } from './scope.ts'

/** What a caller gives for one call. */
export interface Intent<DB> {
  readonly scope: Scope
  readonly key: string
  readonly fingerprints: Fingerprints
  readonly fn: BusinessFunction<DB, unknown>
  readonly options: CallOptions | undefined
}

/** Every way in which a call can end, whatever its options. */
type AnyResult = Result<unknown> | Denied | Duplicate<unknown> | QuotaExceeded
type AnyJoinedResult = Exclude<AnyResult, { kind: 'executed' | 'unknown' }> | Applied<unknown>

/** The protocol: claim the key and execute, or replay what is committed under it. */
export async function withIdempotency<DB>(
  db: Kysely<DB>,
  operation: Operation<DB>,
  intent: Intent<DB>,
): Promise<AnyResult> {
  // Bad input is found before anything has touched the database.
  const wanted = checkIntent(intent, operation)
  using bound = deadlineOf(intent.options)
  const { retry, onOutcome } = operation
  return await observed<AnyResult>(onOutcome, wanted, (noted) =>
    retried(retry.attempts, bound, async (onLost) => {
      noted.attempts += 1
      const claim = { ...wanted, attempt: randomUUID() }
      try {
        return await run(db, { claim, operation, fn: intent.fn, bound }, noted, onLost)
      } catch (error) {
        // Only what a claim has written can be a duplicate, and not a statement of `authorize`.
        if (!noted.transaction) throw error
        return await duplicateBehind(error, db, claim, operation, bound)
      }
    }),
  )
}

/** One run, in a transaction of its own. */
async function run<DB>(
  db: Kysely<DB>,
  wanted: Run<DB>,
  noted: Observed,
  onLost: (() => void) | undefined,
): Promise<AnyResult> {
  const { claim, operation, bound } = wanted
  const { schema, resolveTimeoutMs: endTimeoutMs } = operation
  noted.transaction = undefined
  const seen = operation.readFirst && (await readFirst(db, operation, claim, bound))
  if (seen) {
    noted.obtainedAt = performance.now()
    return seen
  }
  const fate = await transact(db, schema, (trx, own) => attempt(trx, own, wanted, noted), {
    bound,
    endTimeoutMs,
    beginsByClaim: true,
    onLost,
  })
  if (fate.known) return fate.outcome
  // Somebody else may have the key by the time a lost commit is looked up. Nothing is claimed again.
  const replayOther = async () => {
    const work = async (trx: Transaction<DB>, own: OwnTables) => {
      await boundWaits(own, operation)
      const record = await readRecord(own, claim, lockFor(operation))
      const outcome = record && (await replayIn(trx, own, record, claim, operation, bound))
      return { end: 'rollback', outcome } as const
    }
    return (await transact(db, schema, work, { bound, endTimeoutMs })).outcome
  }
  return recover(
    db,
    operation,
    claim,
    { ...fate, transaction: noted.transaction, bound },
    replayOther,
  )
}

/** The same inside the caller's transaction, which the caller commits. */
export async function withTransaction<DB>(
  tx: Transaction<DB>,
  operation: Operation<DB>,
  intent: Intent<DB>,
): Promise<AnyJoinedResult> {
  const wanted = checkIntent(intent, operation)
  using bound = deadlineOf(intent.options)
  return await observed<AnyJoinedResult>(operation.onOutcome, wanted, async (noted) => {
    noted.attempts = 1
    const claim = { ...wanted, attempt: randomUUID() }
    const outcome = await join(tx, { claim, operation, fn: intent.fn, bound }, noted)
    // Whether it is committed is for the caller to say.
    return outcome.kind === 'executed' ? { ...outcome, kind: 'applied' } : outcome
  })
}

function checkIntent<DB>(
  { scope, key, fingerprints, fn }: Intent<DB>,
  { replayWindowMs }: Operation<DB>,
): Omit<Claim, 'attempt'> {
  if (typeof fn !== 'function') {
    throw new OncelyError('invalid_function', 'the business function must be a function')
  }
  return {
    ...checkScope(scope),
    key: checkKey(key),
    fingerprints: checkFingerprints(fingerprints),
    replayWindowMs,
  }
}
