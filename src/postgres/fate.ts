import { isAbortedTransactionError } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { Bound } from './bound.ts'
import type { Ending } from './ending.ts'
import { type HeldConnection, Unprepared } from './held-connection.ts'
import { isDefiniteRefusal } from './sqlstate.ts'

/** What became of a transaction that did not fail. */
export type Fate<Outcome> =
  | { readonly known: true; readonly outcome: Outcome }
  /** COMMIT was sent, and no answer says whether it took effect. */
  | { readonly known: false; readonly outcome: Outcome; readonly cause: unknown }

/** What is known of one that is under way. */
export interface Unit<Outcome> {
  begun?: true
  held?: HeldConnection
  failure?: { readonly error: unknown }
  /** With `commit`, from the moment at which COMMIT is certain to be sent. */
  ending?: Ending<Outcome>
}

/** Thrown to end a transaction without failing it, since Kysely commits whatever returns. */
export const rollBack = new Error('roll back')

/**
 * What became of a transaction that is over.
 *
 * @param refused - what Kysely's transaction failed with.
 * @param onLost - is called where the connection was lost before COMMIT was sent.
 */
export function fateOf<Outcome>(
  unit: Unit<Outcome>,
  refused: { readonly error: unknown } | undefined,
  bound: Bound,
  onLost: (() => void) | undefined,
): Fate<Outcome> {
  const { control } = unit.held ?? {}
  if (unit.failure?.error instanceof Unprepared) throw unit.failure.error
  const notBegun = unit.begun ? control?.notBegun : refused
  if (notBegun) {
    bound.check()
    onLost?.()
    throw notStarted(notBegun.error)
  }
  if (unit.failure) {
    // The rollback failed as well.
    if ((refused && refused.error !== rollBack) || control?.tainted) onLost?.()
    throw unit.failure.error
  }
  const ending = unit.ending as Ending<Outcome>
  const { outcome } = ending
  // A rollback went as it was meant, or failed: then the server ends what is left of it.
  if (!refused || ending.end === 'rollback') return { known: true, outcome }
  const cause = refused.error
  if (isAbortedTransactionError(cause)) {
    throw new OncelyError('transaction_aborted', 'COMMIT was answered by ROLLBACK', { cause })
  }
  // On a plain dialect the error may be that of the ROLLBACK behind COMMIT, so less is certain.
  if (control ? control.isRefusalOfCommit(cause) : isDefiniteRefusal(cause)) throw cause
  return { known: false, outcome, cause }
}

function notStarted(cause: unknown): OncelyError {
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  return new OncelyError('transaction_not_started', `no transaction could be opened: ${reason}`, {
    cause,
  })
}
