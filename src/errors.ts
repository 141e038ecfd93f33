/**
 * What went wrong, as a stable string: programs decide by it, never by the message.
 *
 * Nothing was written, no key was used and the caller may correct the input:
 * - `invalid_options`: an option of `createIdempotency`, `withOptions` or a migration is not of its form.
 * - `invalid_scope`, `invalid_key`, `invalid_fingerprint`, `invalid_function`: that argument is not
 *   of its form.
 * - `not_json`: a value has no faithful JSON form; `path` says where, such as `$.items[2].price`.
 *
 * The business function did something that cannot be kept; all of it was rolled back:
 * - `not_json`: so was the value it returned.
 * - `invalid_event`: an event given to `context.emit` is not of its form; so is one that a sink receives.
 * - `invalid_resource`: so is what was given to `context.resource`.
 * - `invalid_response`: an HTTP handler's answer cannot be stored, such as one that is not encoded as it says.
 * - `response_too_large`: what it returned has more bytes than `maxResponseBytes`.
 * - `rejection_not_returned`: `context.reject` was called, and something else was returned.
 * - `transaction_closed`: `tx` or `context` was used after the business function had settled.
 * - `transaction_aborted`: COMMIT was answered by ROLLBACK.
 * - `transaction_control`: the business function tried to end its transaction; that was not sent.
 * - `claim_lost`: the claim is gone all the same, such as by a statement hidden in another. What was
 *   written behind the end of the transaction stays.
 *
 * The call was given up before COMMIT was sent; nothing is committed, and what is still
 * under way at the server holds the key until it ends:
 * - `aborted`: its `signal` was aborted; `cause` is the reason.
 * - `deadline_exceeded`: its `deadlineMs` had passed. Of a client: before it had sent anything.
 *
 * The call cannot join the transaction it was given, which stays usable:
 * - `isolation_unsupported`: it is not READ COMMITTED; also of a driver that ignores what it is asked for.
 * - `key_reused`: the same key was used before in the same transaction.
 * - `transaction_busy`: another call has joined it and has not ended; await one before the next.
 *
 * An HTTP route is not set up as it has to be; nothing was written:
 * - `call_missing`: `of` was asked for a request that has no call.
 * - `call_under_way`: its middleware is in front of the handler twice.
 * - `content_consumed`: the content was read in front of it, by something that keeps no copy.
 * - `content_unread`: the content is left for the handler to read, who would find nothing any more.
 *
 * The record is there, and cannot be replayed by this instance:
 * - `response_not_stored`: it was stored by one with `replay`, which makes the answer anew.
 *
 * The answer to COMMIT was lost, so it may have taken effect or not:
 * - `outcome_unknown`: of an operation that is safe to repeat, such as `expire`. Repeat it.
 *
 * A client's intent has no answer of its own, see `IdempotentFetchError`:
 * - `key_reused`: its key was used for another request before.
 * - `key_expired`: it took effect, too long ago for its answer to be there.
 * - `outcome_unknown`: it may have taken effect or not. Send the same again with the same key.
 * - `retention_exceeded`: the same, and the server may not know the key any more. Look at what was made.
 *
 * A proof by `oncely/testing` has no result:
 * - `not_final`: no call had a last word; `cause` is what the last one was told.
 *
 * The database is not as it should be; nothing is left of the call:
 * - `commit_unanswered`: COMMIT was not answered, and it was looked up that it had no effect.
 * - `transaction_not_started`: no connection, or no transaction on it, also where a
 *   `query_timeout` ended BEGIN and claim; `cause` has the driver's error.
 * - `schema_missing`, `schema_outdated`: run `oncely migrate`.
 * - `schema_newer`: a newer version of oncely has migrated the schema; upgrade the package.
 * - `access_denied`: the role lacks a right; `oncely migrate grants` prints what it needs.
 * - `database_unreachable`, `database_refused`, `server_too_old`: found when a command connects.
 * - `driver_missing`: a command needs the package `pg`, which is optional otherwise.
 * - `migration_failed`: a migration could not be applied; `cause` has the error.
 */
export type OncelyErrorCode =
  | 'aborted'
  | 'access_denied'
  | 'call_missing'
  | 'call_under_way'
  | 'claim_lost'
  | 'commit_unanswered'
  | 'content_consumed'
  | 'content_unread'
  | 'database_refused'
  | 'database_unreachable'
  | 'deadline_exceeded'
  | 'driver_missing'
  | 'invalid_event'
  | 'invalid_fingerprint'
  | 'invalid_function'
  | 'invalid_key'
  | 'invalid_options'
  | 'invalid_resource'
  | 'invalid_response'
  | 'invalid_scope'
  | 'isolation_unsupported'
  | 'key_expired'
  | 'key_reused'
  | 'migration_failed'
  | 'not_final'
  | 'not_json'
  | 'outcome_unknown'
  | 'rejection_not_returned'
  | 'response_not_stored'
  | 'response_too_large'
  | 'retention_exceeded'
  | 'schema_missing'
  | 'schema_newer'
  | 'schema_outdated'
  | 'server_too_old'
  | 'transaction_aborted'
  | 'transaction_busy'
  | 'transaction_closed'
  | 'transaction_control'
  | 'transaction_not_started'

const brand = Symbol.for('oncely.error')

/** What oncely throws. Expected outcomes of a call are values instead, see `Result`. */
export class OncelyError extends Error {
  /** For those who print it. */
  override readonly name: string = 'OncelyError'
  /** Which error this is. */
  readonly code: OncelyErrorCode
  /** With `not_json`: where in the value, as a JSONPath such as `$.items[2].price`. */
  readonly path: string | undefined
  /** @internal */
  readonly [brand] = true

  /** @internal */
  constructor(
    code: OncelyErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly path?: string } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.path = options.path
  }
}

/**
 * Whether something caught is an error of oncely. By a brand and not by `instanceof`, so that it
 * holds across two copies of the package in one process.
 */
export function isOncelyError(error: unknown): error is OncelyError {
  return typeof error === 'object' && error !== null && brand in error
}
