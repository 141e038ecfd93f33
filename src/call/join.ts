import { randomBytes } from 'node:crypto'

import { sql, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import type { Operation } from '../operation.ts'
import type { Bound } from '../postgres/bound.ts'
import { enter, type OwnTables } from '../postgres/enter.ts'
import { boundLockWait } from '../postgres/settings.ts'
import { violates } from '../postgres/sqlstate.ts'
import type { Ending } from '../postgres/transact.ts'
import type { Claim } from '../records/claim.ts'
import { isOwnUncommitted } from '../records/own-uncommitted.ts'
import { attempt, type Outcome } from './attempt.ts'
import { resolveDuplicate } from './duplicate.ts'
import type { BusinessFunction } from './execute.ts'
import type { Observed } from './observe.ts'
import type { Duplicate } from '../result.ts'

/**
 * One run of the protocol inside the caller's transaction, under a savepoint, so that whatever fails
 * leaves it usable; what does not claim is undone, settings and row locks with it.
 *
 * @throws OncelyError `transaction_aborted` when the caller's transaction had failed before;
 * `isolation_unsupported`; `key_reused`.
 */
export async function join<DB>(
  tx: Transaction<DB>,
  claim: Claim,
  operation: Operation<DB>,
  fn: BusinessFunction<DB, unknown>,
  bound: Bound,
  observed: Observed,
): Promise<Outcome | Duplicate<unknown>> {
  const own = enter(tx, operation.schema)
  const savepoint = await Savepoint.set(own)
  let ending: Ending<Outcome>
  try {
    refuseIsolation(await boundLockWait(own, operation.lockTimeoutMs))
    ending = await attempt(tx, own, claim, operation, fn, bound, observed)
    if (isOfRecord(ending) && (await isOwnUncommitted(own, claim))) throw keyReused()
    bound.check()
  } catch (error) {
    await savepoint.undo()
    const { businessIdentity: business } = operation
    if (!business || !violates(error, business.constraint)) throw error
    const duplicate = await resolveDuplicate(error, tx, claim, business)
    if (!duplicate) throw error
    return duplicate
  }
  if (ending.end === 'rollback') await savepoint.undo()
  else await savepoint.release()
  return ending.outcome
}

/** Whether somebody's record has decided, and not a wait, a quota, or nobody. */
function isOfRecord({ end, outcome }: Ending<Outcome>): boolean {
  return end === 'rollback' && outcome.kind !== 'in_progress' && outcome.kind !== 'quota_exceeded'
}

/** By a name that nobody can use for one of their own, which would hide it. */
class Savepoint {
  readonly #own: OwnTables
  readonly #name = sql.id(`oncely_${randomBytes(8).toString('hex')}`)

  private constructor(own: OwnTables) {
    this.#own = own
  }

  static async set(own: OwnTables): Promise<Savepoint> {
    const savepoint = new Savepoint(own)
    try {
      await own.run(sql`savepoint ${savepoint.#name}`.compile(own.tables))
    } catch (cause) {
      throw new OncelyError(
        'transaction_aborted',
        'the transaction to be joined has failed before',
        {
          cause,
        },
      )
    }
    return savepoint
  }

  async undo(): Promise<void> {
    await this.#own.run(sql`rollback to savepoint ${this.#name}`.compile(this.#own.tables))
    await this.release()
  }

  async release(): Promise<void> {
    await this.#own.run(sql`release savepoint ${this.#name}`.compile(this.#own.tables))
  }
}

function refuseIsolation(isolation: string): void {
  if (isolation === 'read committed') return
  throw new OncelyError(
    'isolation_unsupported',
    `the transaction to be joined is ${isolation}, in which a claim cannot see who won: open it in read committed`,
  )
}

function keyReused(): OncelyError {
  return new OncelyError('key_reused', 'the key was used before in the same transaction')
}
