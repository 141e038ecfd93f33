import type { CompiledQuery, Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { Operation } from '../operation.ts'
import type { Bound } from '../postgres/bound.ts'
import { LentTransaction } from '../postgres/lent-transaction.ts'
import { isIntegrityViolation, SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import type { Claim } from '../records/claim.ts'
import { complete, isClaimGone } from '../records/complete.ts'
import { identityOf } from '../records/identity.ts'
import { encodeResponse } from '../response/codec.ts'
import type { Executed, Rejected } from '../result.ts'
import { scopeOf } from '../scope.ts'
import { Call, type CallContext } from './context.ts'
import { isRejection } from './rejection.ts'
import type { Savepoint } from './savepoint.ts'

const NOTHING = Buffer.alloc(0)

/** The business function: it runs at most once for a key, inside the claim's transaction. */
export type BusinessFunction<DB, Returned> = (
  tx: Transaction<DB>,
  context: CallContext,
) => Promise<Returned> | Returned

/** What one run of the protocol is about. */
export interface Run<DB> {
  readonly claim: Claim
  readonly operation: Operation<DB>
  readonly fn: BusinessFunction<DB, unknown>
  readonly bound: Bound
}

/** What a business function came to, and the statements that are left to be executed. */
interface Execution {
  readonly outcome: Executed<unknown> | Rejected<unknown>
  /** Stores it. What they fail with is told as `failureOfStore` says. */
  readonly queries: readonly CompiledQuery[]
}

/**
 * Runs the business function under the claim, behind a savepoint that is set.
 *
 * What the function throws is thrown unchanged. When one of its statements failed and it went on as
 * if nothing had happened, that first error is thrown.
 *
 * @throws OncelyError `rejection_not_returned` or `not_json`.
 */
export async function execute<DB>(
  trx: Transaction<DB>,
  savepoint: Savepoint,
  { claim, operation, fn, bound }: Run<DB>,
): Promise<Execution> {
  const lent = new LentTransaction(trx)
  const call = new Call(scopeOf(claim), claim.key, () => lent.firstError)
  const run = async (tx: Transaction<DB>) => {
    try {
      return await fn(tx, call)
    } finally {
      call.settle()
    }
  }
  const returned = await lent.use(run, bound)
  refuseOutcomeBehind(lent.firstError, returned)
  const rejection = call.rejectionIn(returned)
  const { schema, codec, maxResponseBytes } = operation
  const encode = (made: unknown) => encodeResponse(made, codec, maxResponseBytes)
  const identity = { ...identityOf(claim), attempt: claim.attempt }
  if (rejection) {
    const { bytes: response, head, value: refusal } = await encode(rejection.value)
    const refused = { ...identity, state: 'rejected', response, head, events: [] } as const
    return {
      outcome: { ok: false, kind: 'rejected', refusal, replayed: false },
      queries: [savepoint.rollback, complete(schema, refused)],
    }
  }
  const { events, madeResource: resource } = call
  const { bytes, head: encodedHead, value } = await encode(returned)
  // Where a replay makes the answer anew, nothing of it is kept: not for a day, and not a secret.
  const response = operation.replay ? NOTHING : bytes
  const responseStored = !operation.replay
  const head = responseStored ? encodedHead : undefined
  const stored = { response, responseStored, head, events } as const
  const completed = { ...identity, ...stored, state: 'completed' } as const
  return {
    outcome: { ok: true, kind: 'executed', value },
    queries: [complete(schema, { ...completed, resource })],
  }
}

/**
 * A function that swallows the failure of a statement has no outcome. Only a violated constraint is
 * an answer of the business, behind which it may refuse: our savepoint would heal any error, and a
 * refusal behind a time-out would make a passing fault final.
 */
function refuseOutcomeBehind(first: LentTransaction<unknown>['firstError'], returned: unknown) {
  if (!first || (isRejection(returned) && isIntegrityViolation(first.error))) return
  throw first.error
}

/** What a statement that stores failed with, as it is told. */
export function failureOfStore(error: unknown): unknown {
  const gone: readonly unknown[] = [SQLSTATE.invalidSavepoint, SQLSTATE.noActiveTransaction]
  if (!isClaimGone(error) && !gone.includes(sqlState(error))) return error
  return new OncelyError(
    'claim_lost',
    'the claim is gone: the business function must not commit or roll back its transaction',
    { cause: error },
  )
}
