import type { Transaction } from 'kysely'

import type { Operation } from '../operation.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { boundsOf, type Waits } from '../postgres/settings.ts'
import type { Ending } from '../postgres/ending.ts'
import { obtain } from '../records/obtain.ts'
import { takeQuota } from '../records/quota.ts'
import type { Denied, QuotaExceeded, Result } from '../result.ts'
import { execute, failureOfStore, type Run } from './execute.ts'
import type { Observed } from './observe.ts'
import { replayIn } from './replay.ts'
import { Savepoint } from './savepoint.ts'

/** What one run of the protocol comes to, before COMMIT. */
export type Outcome = Exclude<Result<unknown>, { kind: 'unknown' }> | Denied | QuotaExceeded

/**
 * Claims the key and executes, or replays what is committed under it. Only a claim changes anything:
 * whatever else ends by a rollback, which reaches no disk.
 */
export async function attempt<DB>(
  trx: Transaction<DB>,
  own: OwnTables,
  run: Run<DB>,
  observed: Observed,
  waits: Waits = 'lock and silence',
): Promise<Ending<Outcome>> {
  const { claim, operation, bound } = run
  const { retryAfterMs, quota } = operation
  const savepoint = new Savepoint(own)
  const set = () => savepoint.set()
  const obtained = await obtain(own, claim, {
    lock: lockFor(operation),
    bounds: boundsOf(operation),
    waits,
    // A refusal uses up a new key too, so its count is not to be undone.
    ...(!quota && { behindClaim: set }),
  })
  observed.obtainedAt = performance.now()
  switch (obtained.by) {
    case 'claim': {
      observed.transaction = obtained.transaction
      if (quota) {
        const [freeInMs] = await own.together([() => takeQuota(own, claim, quota), set])
        if (freeInMs !== undefined) {
          const outcome: Outcome = { ok: false, kind: 'quota_exceeded', retryAfterMs: freeInMs }
          return { end: 'rollback', outcome }
        }
      }
      own.hostRuns()
      const { outcome, queries } = await execute(trx, savepoint, run)
      const failed = (error: unknown) => own.explained(failureOfStore(error))
      return { end: 'commit', outcome, last: { queries, failed } }
    }
    case 'record': {
      const { record } = obtained
      const outcome = await replayIn(trx, own, record, claim, operation, bound)
      // Nothing was written, and nothing is held that anybody waits for.
      return { end: 'rollback', outcome, isAnswer: lockFor(operation) === 'none' }
    }
    case 'other': {
      const { by: _, ...reason } = obtained
      return {
        end: 'rollback',
        outcome: { ok: false, kind: 'in_progress', retryAfterMs, ...reason },
      }
    }
  }
}

/** Where statements of the host have to agree with the record, nothing may change it meanwhile. */
export function lockFor<DB>({ authorize, replay, replayLock }: Operation<DB>): 'none' | 'share' {
  return authorize || replay ? 'share' : replayLock
}
