import type { Kysely } from 'kysely'

import type { ResolvedOptions } from '../options.ts'
import { resolveCommit, type TransactionIdentity } from '../postgres/commit-fate.ts'
import { type Bound, unlessAborted } from '../postgres/bound.ts'
import { OVER, within } from '../postgres/within.ts'
import type { Claim } from '../records/claim.ts'
import { findAttempt } from '../records/find-attempt.ts'
import type { Unknown } from '../result.ts'

/** A call whose COMMIT was sent, and whose answer is not certain. */
interface LostCall<Outcome> {
  /** Undefined of a call that claimed nothing. */
  readonly transaction: TransactionIdentity | undefined
  /** What it comes to, if it has committed. */
  readonly outcome: Outcome
  readonly cause: unknown
  /** Ends the search. */
  readonly bound: Bound
}

/**
 * Finds out how a call ended whose answer to COMMIT was lost. The record decides and never the
 * transaction's id alone, which after a crash can be somebody else's.
 *
 * @param replayed - what a record of somebody else's says to this call; undefined if it is gone.
 * @throws what COMMIT failed with, when it took no effect.
 */
export async function recover<DB, Outcome extends { readonly kind: string }>(
  db: Kysely<DB>,
  { schema, resolveTimeoutMs, retryAfterMs }: ResolvedOptions,
  claim: Claim,
  { transaction, outcome, cause, bound }: LostCall<Outcome>,
  replayed: () => Promise<Outcome | undefined>,
): Promise<Outcome | Unknown> {
  const unknown: Unknown = { ok: false, kind: 'unknown', retryAfterMs, cause }
  if (!transaction) return unknown
  const search = resolveCommit(db, {
    transaction,
    schema,
    timeoutMs: resolveTimeoutMs,
    look: (own) => findAttempt(own, claim),
  })
  const found = await unlessAborted(bound, search)
  switch (found) {
    case OVER:
    case undefined:
      return unknown
    case 'ours':
      return { ...outcome, recovered: true }
    case 'absent':
      throw cause
    case 'of another': {
      // Ours had no effect. Where the other cannot be read now, asking again tells.
      const reading = within(resolveTimeoutMs, replayed()).catch(() => unknown)
      const answer = await unlessAborted(bound, reading)
      if (answer === undefined) throw cause
      return answer === OVER ? unknown : answer
    }
  }
}
