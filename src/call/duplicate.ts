import type { Kysely, Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { BusinessIdentity, Operation } from '../operation.ts'
import { lend } from '../postgres/lent-transaction.ts'
import { violates } from '../postgres/sqlstate.ts'
import { transact } from '../postgres/transact.ts'
import type { Bound } from '../postgres/bound.ts'
import type { RecordIdentity } from '../records/identity.ts'
import type { Duplicate } from '../result.ts'
import { scopeOf } from '../scope.ts'

/**
 * What a failed call comes to whose business object exists under another key. The resolver reads in a
 * transaction behind the rollback, so that it sees what the violated statement could not.
 *
 * @throws the error itself, when it is another one, or the object is gone again.
 */
export async function duplicateBehind<DB>(
  error: unknown,
  db: Kysely<DB>,
  identity: RecordIdentity,
  { schema, businessIdentity: business, resolveTimeoutMs: endTimeoutMs }: Operation<DB>,
  bound: Bound,
): Promise<Duplicate<unknown>> {
  if (!business || !violates(error, business)) throw error
  const fate = await transact(
    db,
    schema,
    async (trx) => ({
      end: 'rollback',
      outcome: await resolveDuplicate(error, trx, identity, business, bound),
    }),
    { bound, endTimeoutMs },
  )
  // A rollback has no fate to be unknown.
  if (!fate.known || !fate.outcome) throw error
  return fate.outcome
}

/** The same in a transaction that is there already. */
export async function resolveDuplicate<DB>(
  error: unknown,
  trx: Transaction<DB>,
  identity: RecordIdentity,
  { resolve }: BusinessIdentity<DB, unknown>,
  bound: Bound,
): Promise<Duplicate<unknown> | undefined> {
  const call = { scope: scopeOf(identity), key: identity.key, error }
  const resolution = await lend(trx, (tx) => resolve(tx, call), bound)
  if (resolution === undefined) return undefined
  const { disposition } = Object(resolution) as { disposition: unknown }
  switch (disposition) {
    case 'replay':
      return {
        ok: false,
        kind: 'duplicate',
        disposition,
        value: (resolution as { value?: unknown }).value,
      }
    case 'conflict':
    case 'manual':
      return { ok: false, kind: 'duplicate', disposition }
    default:
      throw new OncelyError(
        'invalid_options',
        "businessIdentity.resolve must return { disposition: 'replay' | 'conflict' | 'manual' }",
      )
  }
}
