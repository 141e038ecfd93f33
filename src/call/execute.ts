import { randomBytes } from 'node:crypto'

import { type RawBuilder, sql, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { Operation } from '../operation.ts'
import type { Bound } from '../postgres/bound.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { LentTransaction } from '../postgres/lent-transaction.ts'
import { isIntegrityViolation, SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import type { Claim } from '../records/claim.ts'
import { complete, type Completion } from '../records/complete.ts'
import { identityOf } from '../records/identity.ts'
import { encodeResponse } from '../response/codec.ts'
import type { Executed, Rejected } from '../result.ts'
import { scopeOf } from '../scope.ts'
import { Call, type CallContext } from './context.ts'
import { isRejection } from './rejection.ts'

const NOTHING = Buffer.alloc(0)

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
 * @throws OncelyError `rejection_not_returned`, `not_json` or `claim_lost`.
 */
export async function execute<DB>(
  trx: Transaction<DB>,
  own: OwnTables,
  claim: Claim,
  operation: Operation<DB>,
  fn: BusinessFunction<DB, unknown>,
  bound: Bound,
): Promise<Executed<unknown> | Rejected<unknown>> {
  // A name that the function cannot use for a savepoint of its own, which would hide this one.
  const savepoint = sql.id(`oncely_${randomBytes(8).toString('hex')}`)
  await own.run(sql`savepoint ${savepoint}`.compile(own.tables))

  const lent = new LentTransaction(trx)
  const identity = { ...identityOf(claim), attempt: claim.attempt }
  const call = new Call(scopeOf(claim), claim.key)
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
  const { codec, maxResponseBytes } = operation
  const encode = (made: unknown) => encodeResponse(made, codec, maxResponseBytes)
  if (rejection) {
    const { bytes, value: refusal } = await encode(rejection.value)
    await undo(own, savepoint)
    await store(own, { ...identity, state: 'rejected', response: bytes, events: [] })
    return { ok: false, kind: 'rejected', refusal, replayed: false }
  }
  const { events, madeResource: resource } = call
  const { bytes, value } = await encode(returned)
  // Where a replay makes the answer anew, nothing of it is kept: not for a day, and not a secret.
  const response = operation.replay ? NOTHING : bytes
  const responseStored = !operation.replay
  await store(own, { ...identity, state: 'completed', response, responseStored, events, resource })
  return { ok: true, kind: 'executed', value }
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

async function undo(own: OwnTables, savepoint: RawBuilder<unknown>): Promise<void> {
  try {
    await own.run(sql`rollback to savepoint ${savepoint}`.compile(own.tables))
  } catch (error) {
    const gone: readonly unknown[] = [SQLSTATE.invalidSavepoint, SQLSTATE.noActiveTransaction]
    throw gone.includes(sqlState(error)) ? claimLost(error) : error
  }
}

async function store(own: OwnTables, completion: Completion): Promise<void> {
  if (!(await complete(own, completion))) throw claimLost()
}

function claimLost(cause?: unknown): OncelyError {
  return new OncelyError(
    'claim_lost',
    'the claim is gone: the business function must not commit or roll back its transaction',
    { cause },
  )
}
