import { randomUUID } from 'node:crypto'

import type { Kysely } from 'kysely'

import { replay } from './call/replay.ts'
import { type BusinessFunction, execute } from './call/execute.ts'
import type { Rejection } from './call/rejection.ts'
import { OncelyError } from './errors.ts'
import { checkFingerprint, type Fingerprint } from './fingerprint/fingerprint.ts'
import type { ResolvedOptions } from './options.ts'
import { enter } from './postgres/enter.ts'
import { boundWaits } from './postgres/settings.ts'
import { transact } from './postgres/transact.ts'
import type { Claim } from './records/claim.ts'
import { obtain } from './records/obtain.ts'
import type { Stored } from './response/stored.ts'
import type { Result } from './result.ts'
import { checkKey, checkScope, type Scope } from './scope.ts'

/** What callers get of what a business function returns, rejections set aside. */
export type ValueOf<Returned> = Stored<Exclude<Returned, Rejection<unknown>>>

/**
 * What callers get of what a business function rejects with. A function that rejects nothing may
 * still meet a refusal that an earlier version of it stored.
 */
export type RefusalOf<Returned> =
  Extract<Returned, Rejection<unknown>> extends Rejection<infer Refusal> ? Stored<Refusal> : unknown

/** The protocol: claim the key and execute, or replay what is committed under it. */
export async function withIdempotency<DB, Returned>(
  db: Kysely<DB>,
  options: ResolvedOptions,
  scope: Scope,
  key: string,
  fingerprint: Fingerprint,
  fn: BusinessFunction<DB, Returned>,
): Promise<Result<ValueOf<Returned>, RefusalOf<Returned>>> {
  const { schema, replayWindowMs, retryAfterMs, replayLock } = options
  // Bad input is found before anything has touched the database.
  if (typeof fn !== 'function') {
    throw new OncelyError('invalid_function', 'the business function must be a function')
  }
  const claim: Claim = {
    ...checkScope(scope),
    key: checkKey(key),
    fingerprint: checkFingerprint(fingerprint),
    attempt: randomUUID(),
    replayWindowMs,
  }

  const fate = await transact<DB, Result<unknown>>(db, async (trx) => {
    const own = enter(trx, schema)
    await boundWaits(own, options)
    const obtained = await obtain(own, claim, replayLock)
    // Only a claim changes anything: whatever else ends by a rollback, which reaches no disk.
    switch (obtained.by) {
      case 'claim':
        return { end: 'commit', outcome: await execute(trx, own, claim, fn) }
      case 'record':
        return { end: 'rollback', outcome: replay(obtained.record, claim.fingerprint) }
      case 'other': {
        const { by: _, ...reason } = obtained
        return {
          end: 'rollback',
          outcome: { ok: false, kind: 'in_progress', retryAfterMs, ...reason },
        }
      }
    }
  })
  const result: Result<unknown> = fate.known
    ? fate.outcome
    : { ok: false, kind: 'unknown', retryAfterMs, cause: fate.cause }
  // Stored values come back as what they were stored as; only the compiler has to be told.
  return result as Result<ValueOf<Returned>, RefusalOf<Returned>>
}
