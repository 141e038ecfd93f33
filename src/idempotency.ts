import type { Transaction } from 'kysely'

import type { SweepCounts, SweepOptions } from './batches.ts'
import type { CallOptions } from './call/deadline.ts'
import type { BusinessFunction } from './call/execute.ts'
import type { Fingerprints } from './fingerprint/fingerprint.ts'
import type { OperationOptions } from './operation.ts'
import type { ResolvedOptions } from './options.ts'
import type { Erasure } from './records/erase.ts'
import type { Codec } from './response/codec.ts'
import type { Denied, JoinedResult, Lookup, Result } from './result.ts'
import type { Scope } from './scope.ts'
import type { PlainShape, RefusalOf, ReplayOf, Shape, ShapeWith, ValueOf } from './shape.ts'

/** How a call ends on an instance of that shape. */
export type ResultOf<Returned, Of extends Shape = PlainShape> =
  Result<ValueOf<Returned, Of>, RefusalOf<Returned, Of>, ReplayOf<Returned, Of>> | Of['extra']

/** The same inside the caller's transaction. */
export type JoinedResultOf<Returned, Of extends Shape = PlainShape> =
  JoinedResult<ValueOf<Returned, Of>, RefusalOf<Returned, Of>, ReplayOf<Returned, Of>> | Of['extra']

/** Idempotent writes on one database. Made by `createIdempotency`; holds no state of its own. */
export interface Idempotency<DB, Of extends Shape = PlainShape> {
  /** The options of this instance, each default filled in. */
  readonly options: ResolvedOptions & {
    /** How values and refusals are written and read. */
    readonly codec: Codec
  }

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
   * @param fingerprint - of the parameters that decide the result, by `fingerprint`; or several that
   * are accepted, such as under the rule of the deploy before, the one to be stored first.
   * @param fn - gets `tx`, the host's own transaction in READ COMMITTED, and `context`. What it
   * returns is stored as JSON; everybody gets that stored form, so a Date is a string.
   * @param options - a bound on this one call.
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
    fingerprint: Fingerprints,
    fn: BusinessFunction<DB, Returned>,
    options?: CallOptions,
  ): Promise<ResultOf<Returned, Of>>

  /**
   * The same inside a transaction of the caller's own, which the caller commits or rolls back, and the
   * claim with it. Under a savepoint: whatever fails leaves the transaction usable.
   *
   * @param tx - a transaction in READ COMMITTED, on the same database.
   * @throws OncelyError `invalid_options` for anything else.
   */
  withTransaction(tx: Transaction<DB>): JoinedIdempotency<DB, Of>

  /**
   * Reads what is committed under a key and executes nothing. `absent` says that nothing is committed,
   * never that nothing was executed.
   *
   * @param fingerprint - as of the call that is asked about; or `'any'` for a caller that does not have
   * its parameters any more, and whose scope and key are enough to be told.
   * @throws OncelyError as `withIdempotency` does for its arguments.
   */
  lookup<Value = unknown, Refusal = unknown>(
    scope: Scope,
    key: string,
    fingerprint: Fingerprints | 'any',
    options?: CallOptions,
  ): Promise<Lookup<Value, Refusal> | Extract<Of['extra'], Denied>>

  /**
   * Turns one committed record into a tombstone: its response goes, key, fingerprint and resource
   * stay, and the key answers `expired` from then on. Waits for a replay that holds the record
   * (`replayLock: 'share'`), as long as the role's `lock_timeout` allows.
   *
   * @returns whether there was a response to clear; false for a key that is not committed, and for
   * one that is a tombstone already.
   * @throws OncelyError `invalid_scope` or `invalid_key`; `outcome_unknown` when the answer to COMMIT
   * was lost or did not come within `resolveTimeoutMs`, and then it is safe to call again.
   */
  expire(scope: Scope, key: string): Promise<boolean>

  /**
   * Forgets a person: every response and resource of a tenant, or of one actor, goes. Keys and
   * fingerprints stay as tombstones, so that no late retry executes again; a fingerprint by `secret`
   * tells nobody anything. Batch by batch; repeat it when it fails in the middle.
   *
   * @returns how many records were cleared. One whose call is still open is not among them.
   * @throws OncelyError `invalid_scope`; `outcome_unknown`, and then it is safe to call again.
   */
  erase(whose: Erasure): Promise<number>

  /**
   * Turns every record past its replay window into a tombstone, by the database's clock, the oldest
   * first, and passes over those that a replay holds. In bounded batches, each a transaction of its
   * own: what is done stays done, and the next call goes on. Many at once share the work.
   *
   * @returns how many were cleared, also when the signal ended it before all were.
   * @throws OncelyError `invalid_options`; `outcome_unknown` when the answer to COMMIT was lost.
   * Whatever it throws, it is safe to call again.
   */
  sweep(options?: SweepOptions): Promise<Pick<SweepCounts, 'cleared'>>

  /**
   * Deletes every tombstone that has been one for longer than `tombstoneWindowMs`, in the same way;
   * its key opens again; without that option, none. Deletes no record that can still be replayed,
   * however old it is: that is swept first. What quotas have counted and count no more goes too.
   *
   * @returns how many were deleted.
   * @throws as `sweep`, and `access_denied` for a role that may not: see `oncely migrate grants --sweeper`.
   */
  purge(options?: SweepOptions): Promise<Pick<SweepCounts, 'purged'>>

  /**
   * The same database for one operation: with some options set otherwise, and with those that only
   * some operations need. The kinds `denied`, `duplicate` and `quota_exceeded` are in the type where
   * their option is set.
   *
   * @throws OncelyError `invalid_options`.
   */
  withOptions<const Options extends OperationOptions<DB>>(
    options: Options,
  ): Idempotency<DB, ShapeWith<Of, Options>>
}

/** Idempotent writes inside one transaction of the caller's. Made by `withTransaction`. */
export interface JoinedIdempotency<DB, Of extends Shape = PlainShape> {
  /**
   * As on `Idempotency`, except that nothing is committed: `applied` holds once the caller has
   * committed, and a caller that rolls back leaves no trace. `retry` does nothing here.
   *
   * @throws OncelyError `isolation_unsupported` in anything but READ COMMITTED; `key_reused` for a key
   * that was used before in the same transaction; `transaction_aborted` when it had failed before.
   */
  withIdempotency<Returned>(
    scope: Scope,
    key: string,
    fingerprint: Fingerprints,
    fn: BusinessFunction<DB, Returned>,
    options?: CallOptions,
  ): Promise<JoinedResultOf<Returned, Of>>
}
