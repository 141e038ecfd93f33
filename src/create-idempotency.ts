import type { Kysely } from 'kysely'

import type { BusinessFunction } from './call/execute.ts'
import type { Fingerprint } from './fingerprint/fingerprint.ts'
import { type IdempotencyOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { enter, refuseTransaction } from './postgres/enter.ts'
import { transactRepeatable } from './postgres/transact.ts'
import { expireRecord } from './records/expire.ts'
import type { Result } from './result.ts'
import { checkKey, checkScope, type Scope } from './scope.ts'
import { type RefusalOf, type ValueOf, withIdempotency } from './with-idempotency.ts'

/** Idempotent writes on one database. Made by `createIdempotency`; holds no state of its own. */
export interface Idempotency<DB> {
  /**
   * Runs a business function at most once for a key. Claim, the function's writes, its events and
   * its response are one transaction: they commit together or not at all, so a crash leaves nothing
   * to clean up and the key is free again. A later call with the same key gets the first answer.
   *
   * The function must keep to `tx`: what it does elsewhere, such as a call to another service, is
   * neither undone by a rollback nor prevented by a replay, and holds the key while it lasts.
   *
   * @param scope - who may share the key.
   * @param key - the caller's name for one intent, the same for every retry: 1 to 255 printable
   * ASCII characters.
   * @param fingerprint - of the parameters that decide the result, by `fingerprint`.
   * @param fn - gets `tx`, the host's own transaction in READ COMMITTED, and `context`. What it
   * returns is stored as JSON; everybody gets that stored form, so a Date is a string.
   * @returns how the call ended, see `Result`. `unknown` is not a failure: ask again.
   * @throws what `fn` throws, unchanged, after the rollback; nothing is stored and the key is free.
   * Likewise the first error of a statement that failed while `fn` went on.
   * @throws OncelyError for misuse and for a database that is not ready, by `code`.
   *
   * @example
   * ```ts
   * const result = await idempotency.withIdempotency(
   *   { tenant: 't1', actor: 'u1', operation: 'orders.create' },
   *   key,
   *   fingerprint({ sku, amountMinor, currency }, { version: 1 }),
   *   async (tx, context) => {
   *     const order = await tx.insertInto('orders').values(row).returningAll().executeTakeFirstOrThrow()
   *     context.emit({ type: 'order.created', aggregateType: 'order', aggregateId: order.id, payload: order })
   *     return { orderId: order.id }
   *   },
   * )
   * ```
   */
  withIdempotency<Returned>(
    scope: Scope,
    key: string,
    fingerprint: Fingerprint,
    fn: BusinessFunction<DB, Returned>,
  ): Promise<Result<ValueOf<Returned>, RefusalOf<Returned>>>

  /**
   * Turns one committed record into a tombstone: its response goes, key, fingerprint and resource
   * stay, and the key answers `expired` from then on. Waits for a replay that holds the record
   * (`replayLock: 'share'`), as long as the role's `lock_timeout` allows.
   *
   * @returns whether there was a response to clear; false for a key that is not committed, and for
   * one that is a tombstone already.
   * @throws OncelyError `invalid_scope` or `invalid_key`; `outcome_unknown` when the answer to COMMIT
   * was lost, and then it is safe to call again.
   */
  expire(scope: Scope, key: string): Promise<boolean>

  /**
   * The same database with some options set otherwise, such as for one operation.
   *
   * @throws OncelyError `invalid_options`.
   */
  withOptions(options: IdempotencyOptions): Idempotency<DB>
}

/**
 * Idempotent writes on the database behind a Kysely of PostgreSQL. Opens nothing and needs no
 * shutdown: each call borrows one connection of `db`.
 *
 * @param db - the host's own Kysely, not a transaction; its plugins apply to `tx`, not to us.
 * @throws OncelyError `invalid_options`.
 */
export function createIdempotency<DB>(
  db: Kysely<DB>,
  options: IdempotencyOptions = {},
): Idempotency<DB> {
  refuseTransaction(db, 'createIdempotency')
  return idempotencyOn(db, resolveOptions(options))
}

function idempotencyOn<DB>(db: Kysely<DB>, resolved: ResolvedOptions): Idempotency<DB> {
  return Object.freeze<Idempotency<DB>>({
    withIdempotency: (scope, key, fingerprint, fn) =>
      withIdempotency(db, resolved, scope, key, fingerprint, fn),

    async expire(scope, key) {
      const identity = { ...checkScope(scope), key: checkKey(key) }
      return transactRepeatable(db, async (trx) => ({
        end: 'commit',
        outcome: await expireRecord(enter(trx, resolved.schema), identity),
      }))
    },

    withOptions: (options) => idempotencyOn(db, resolveOptions(options, resolved)),
  })
}
