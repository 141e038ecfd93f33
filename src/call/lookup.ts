import { randomUUID } from 'node:crypto'

import type { Kysely } from 'kysely'

import { lockFor } from './attempt.ts'
import { type CallOptions, deadlineOf } from './deadline.ts'
import { replayIn } from './replay.ts'
import { checkFingerprints, type Fingerprints } from '../fingerprint/fingerprint.ts'
import type { Operation } from '../operation.ts'
import { boundsOf, boundWaits } from '../postgres/settings.ts'
import { transact } from '../postgres/transact.ts'
import { obtain } from '../records/obtain.ts'
import type { Denied, Lookup } from '../result.ts'
import { checkKey, checkScope, type Scope } from '../scope.ts'

const NONE = [{ algorithm: 'sha256', version: 1, digest: '0'.repeat(64) }] as const

/**
 * Reads what is committed under a key. Where nothing is, a claim that is undone at once tells whether
 * somebody is at it: theirs cannot be seen, but be waited for.
 */
export async function lookUp<DB>(
  db: Kysely<DB>,
  operation: Operation<DB>,
  scope: Scope,
  key: string,
  fingerprints: Fingerprints | 'any',
  options: CallOptions | undefined,
): Promise<Lookup<unknown> | Denied> {
  const accepted = fingerprints === 'any' ? undefined : checkFingerprints(fingerprints)
  const identity = { ...checkScope(scope), key: checkKey(key) }
  const { schema, retryAfterMs, replayWindowMs } = operation
  using bound = deadlineOf(options)
  const lock = lockFor(operation)
  const fate = await transact<DB, Lookup<unknown> | Denied>(
    db,
    schema,
    async (trx, own) => {
      await boundWaits(own, operation)
      const claim = {
        ...identity,
        // Nothing is left of the claim, whatever it is of.
        fingerprints: accepted ?? NONE,
        replayWindowMs,
        attempt: randomUUID(),
      }
      const obtained = await obtain(own, claim, {
        lock,
        bounds: boundsOf(operation),
        waits: 'none',
        first: 'read',
      })
      switch (obtained.by) {
        case 'record': {
          const asked = { ...identity, fingerprints: accepted }
          const outcome = await replayIn(trx, own, obtained.record, asked, operation, bound)
          return { end: 'rollback', outcome }
        }
        case 'claim':
          return { end: 'rollback', outcome: { ok: false, kind: 'absent' } }
        case 'other': {
          const { by: _, ...reason } = obtained
          return {
            end: 'rollback',
            outcome: { ok: false, kind: 'in_progress', retryAfterMs, ...reason },
          }
        }
      }
    },
    { bound, endTimeoutMs: operation.resolveTimeoutMs },
  )
  if (fate.known) return fate.outcome
  throw fate.cause
}
