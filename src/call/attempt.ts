import type { Transaction } from 'kysely'

import type { Operation } from '../operation.ts'
import type { Bound } from '../postgres/bound.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { restoreLockTimeout } from '../postgres/settings.ts'
import type { Ending } from '../postgres/transact.ts'
import type { Claim } from '../records/claim.ts'
import { obtain } from '../records/obtain.ts'
import { takeQuota } from '../records/quota.ts'
import type { Denied, QuotaExceeded, Result } from '../result.ts'
import { type BusinessFunction, execute } from './execute.ts'
import type { Observed } from './observe.ts'
import { replay } from './replay.ts'

/** What one run of the protocol comes to, before COMMIT. */
export type Outcome = Exclude<Result<unknown>, { kind: 'unknown' }> | Denied | QuotaExceeded

/**
 * Claims the key and executes, or replays what is committed under it, in a transaction whose waits are
 * bounded already. Only a claim changes anything: whatever else ends by a rollback, which reaches no
 * disk.
 */
export async function attempt<DB>(
  trx: Transaction<DB>,
  own: OwnTables,
  claim: Claim,
  operation: Operation<DB>,
  fn: BusinessFunction<DB, unknown>,
  bound: Bound,
  observed: Observed,
): Promise<Ending<Outcome>> {
  const { retryAfterMs, quota } = operation
  const obtained = await obtain(own, claim, lockFor(operation))
  observed.obtainedAt = performance.now()
  switch (obtained.by) {
    case 'claim': {
      observed.transaction = obtained.transaction
      const freeInMs = quota && (await takeQuota(own, claim, quota))
      if (freeInMs !== undefined) {
        const outcome: Outcome = { ok: false, kind: 'quota_exceeded', retryAfterMs: freeInMs }
        return { end: 'rollback', outcome }
      }
      return { end: 'commit', outcome: await execute(trx, own, claim, operation, fn, bound) }
    }
    case 'record': {
      const { record } = obtained
      const { authorize, replay: rebuild } = operation
      // Their statements are the host's, under the host's own bound.
      if (authorize || rebuild) await restoreLockTimeout(own)
      const outcome = await replay(trx, record, claim, claim.fingerprints, operation, bound)
      return { end: 'rollback', outcome }
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
