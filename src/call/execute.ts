import { randomBytes } from 'node:crypto'

import { sql, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { LentTransaction } from '../postgres/lent-transaction.ts'
import { isIntegrityViolation, SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import type { Claim } from '../records/claim.ts'
import { complete } from '../records/complete.ts'
import { encodeResponse } from '../response/codec.ts'
import type { Executed, Rejected } from '../result.ts'
import { Call, type CallContext } from './context.ts'

/** The business function: it runs at most once for a key, inside the claim's transaction. */
export type BusinessFunction<DB, Returned> = (
  tx: Transaction<DB>,
  context: CallContext,
) => Promise<Returned> | Returned

/**
 * Runs the business function under the claim and stores what it comes to.
 *
 * What the function throws is thrown unchanged. When one of its statements failed and it went on as
 * if nothing had happened, that first error is thrown.
 *
 * @throws OncelyError `rejection_not_returned`, `not_json`, `claim_lost`, `transaction_aborted`.
 */
export async function execute<DB>(
  trx: Transaction<DB>,
  own: OwnTables,
  claim: Claim,
  fn: BusinessFunction<DB, unknown>,
): Promise<Executed<unknown> | Rejected<unknown>> {
  // A name that the function cannot use for a savepoint of its own, which would hide this one.
  const savepoint = sql.id(`oncely_${randomBytes(8).toString('hex')}`)
  await own.run(sql`savepoint ${savepoint}`.compile(own.tables))

  const lent = new LentTransaction(trx)
  const call = new Call(claim, claim.key)
  let returned: unknown
  try {
    returned = await fn(lent.tx, call)
  } finally {
    call.settle()
    await lent.takeBack()
  }
  const first = lent.firstError
  const rejection = call.rejectionIn(returned)
  const { bytes, value } = encodeResponse(rejection ? rejection.value : returned)
  const { attempt } = claim

  if (rejection) {
    // The savepoint heals any error, a time-out too. Only a violated constraint is an answer of
    // the business; a refusal behind anything else would make a passing fault final.
    if (first && !isIntegrityViolation(first.error)) {
      await unlessAborted(first, () => own.run(sql`select 1`.compile(own.tables)))
    }
    await unlessAborted(undefined, () =>
      own.run(sql`rollback to savepoint ${savepoint}`.compile(own.tables)),
    )
    const refused = { ...claim, attempt, state: 'rejected', response: bytes, events: [] } as const
    if (!(await complete(own, refused))) throw claimLost()
    return { ok: false, kind: 'rejected', refusal: value, replayed: false }
  }

  const { events, madeResource: resource } = call
  const done = { ...claim, attempt, state: 'completed', response: bytes, events, resource } as const
  if (!(await unlessAborted(first, () => complete(own, done)))) {
    throw first ? first.error : claimLost()
  }
  return { ok: true, kind: 'executed', value }
}

/** Lets a failure show what it goes back to: the first error, or what the function did. */
async function unlessAborted<T>(
  first: LentTransaction<unknown>['firstError'],
  statement: () => Promise<T>,
): Promise<T> {
  try {
    return await statement()
  } catch (cause) {
    if (first) throw first.error
    switch (sqlState(cause)) {
      case SQLSTATE.failedTransaction:
        throw new OncelyError('transaction_aborted', 'a statement failed and was ignored', {
          cause,
        })
      case SQLSTATE.invalidSavepoint:
      case SQLSTATE.noActiveTransaction:
        throw claimLost(cause)
      default:
        throw cause
    }
  }
}

function claimLost(cause?: unknown): OncelyError {
  return new OncelyError(
    'claim_lost',
    'the claim is gone: the business function must not commit or roll back its transaction',
    { cause },
  )
}
