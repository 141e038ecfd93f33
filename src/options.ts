import { checkMs, checkNames, checkSchema, checkTimeout, checkWhole, invalid } from './checks.ts'
import type { Scope } from './scope.ts'

/** The schema unless another is named. */
export const DEFAULT_SCHEMA = 'idem'

/** Also for what has no such option. */
export const DEFAULT_RESOLVE_TIMEOUT_MS = 10_000

/** How long a transaction of ours may be silent unless said otherwise. */
export const DEFAULT_IDLE_TIMEOUT_MS = 60_000

/** How an `Idempotency` works. Every option has a default. */
export interface IdempotencyOptions {
  /**
   * The PostgreSQL schema that holds the tables, as given to `oncely migrate --schema`.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * How long a claim waits for another transaction that holds the key, in milliseconds, from 1 to
   * 2,147,483,647; then the result is `in_progress`. PostgreSQL counts each wait by itself, so a
   * queue of claims can take a multiple. The business function sees its own `lock_timeout`.
   *
   * @defaultValue 250: long enough for most twins to end and be replayed, short for a caller.
   */
  readonly lockTimeoutMs?: number
  /**
   * How long a response is replayed, in milliseconds, counted from the claim by the database's
   * clock, from 1 to 100 years. Longer than the longest retry of any client. Then `expired`.
   *
   * @defaultValue 86,400,000 (24 hours): longer than clients and queues usually retry.
   */
  readonly replayWindowMs?: number
  /**
   * How long a tombstone is kept, in milliseconds, counted from when its response was cleared, from 1
   * to 100 years, or `Infinity`. After that `purge` may drop it, its key opens again, and a retry
   * that comes later still runs as a new call: so longer than any retry whatsoever.
   *
   * @defaultValue `Infinity`: for ever, since only that is safe whatever the clients do.
   */
  readonly tombstoneWindowMs?: number
  /**
   * What `in_progress` and `unknown` advise the caller to wait, in milliseconds.
   *
   * @defaultValue 1,000: the least that HTTP's `Retry-After` can say.
   */
  readonly retryAfterMs?: number
  /**
   * After how long between two statements PostgreSQL ends a transaction whose client has gone
   * silent, in milliseconds, from 1 to 2,147,483,647, so that a half-open link cannot hold a key
   * for hours. A shorter setting of the role or the session stays.
   *
   * @defaultValue 60,000: no business step is silent for that long while it holds locks.
   */
  readonly idleInTransactionTimeoutMs?: number
  /**
   * How long COMMIT may go unanswered, and how long it is then looked up what became of it, in
   * milliseconds each, from 1 to 2,147,483,647; then the result is `unknown`. A transaction that has
   * not ended after half of the look-up is ended, so it is to be longer than any COMMIT takes,
   * deferred triggers included. Where COMMIT fails without a certain answer, such as by a lost
   * connection, the look-up follows at once.
   *
   * @defaultValue 10,000: most restarts of a server and fail-overs of a pooler are over by then, and
   * a caller still waits.
   */
  readonly resolveTimeoutMs?: number
  /**
   * `'share'` makes a replay hold its record with a row lock until its transaction ends, so that
   * `expire` waits for it and `sweep` passes over it. One statement sees the whole record, so a
   * replay needs no lock; one past its window takes none, as it would keep the record from sweeping.
   *
   * @defaultValue `'none'`
   */
  readonly replayLock?: 'none' | 'share'
  /**
   * Looks for the record by one plain select, in no transaction, before anything is claimed: for an
   * operation most of whose calls are retries, such as under a retry storm on one key. A first call then
   * waits for the server once more. Without effect where a replay locks its record, by `replayLock`,
   * `authorize` or `replay`.
   *
   * @defaultValue `false`
   */
  readonly readFirst?: boolean
  /**
   * How large a response may be, in bytes as it is stored, from 1 to 256 MiB. A larger one fails the
   * call with `response_too_large` before anything is committed.
   *
   * @defaultValue 1,048,576 (1 MiB): more than an answer has that somebody waits for.
   */
  readonly maxResponseBytes?: number
  /**
   * Runs the whole call again, the function too, when its transaction failed for a passing reason
   * and certainly took no effect: a serialisation failure (SQLSTATE 40001), a deadlock (40P01), a
   * connection that was lost before COMMIT was sent. Only for a function that does nothing outside of `tx`.
   *
   * @defaultValue 1 attempt in all: nothing is run again unasked.
   */
  readonly retry?: Retry
  /**
   * Told how each call ended, for metrics. What it throws changes nothing.
   *
   * @defaultValue none.
   */
  readonly onOutcome?: (report: OutcomeReport) => unknown
}

/** How often a call is run that failed for a passing reason. */
export interface Retry {
  /** In all, from 1 to 10. Between two there is a pause of 20 ms, about twice as long each time. */
  readonly attempts: number
}

/** How a call ended, for metrics. */
export interface OutcomeReport {
  /** The result's `kind`, or `failed` when the call threw. */
  readonly kind: string
  /** Whose call it was; not the key, of which there are too many. */
  readonly scope: Scope
  /** How long the call took, in milliseconds. */
  readonly durationMs: number
  /** How much of it passed before the key was won or its record read: pool, BEGIN and twins; in milliseconds. */
  readonly waitMs: number
  /** How many times the call was run: more than 1 only with `retry`. */
  readonly attempts: number
  /** What the call threw, when `failed`. */
  readonly error?: unknown
}

/** The options with every default filled in. */
export type ResolvedOptions = Readonly<
  Required<Omit<IdempotencyOptions, 'onOutcome'>> & Pick<IdempotencyOptions, 'onOutcome'>
>

const defaults: ResolvedOptions = {
  schema: DEFAULT_SCHEMA,
  lockTimeoutMs: 250,
  replayWindowMs: 86_400_000,
  tombstoneWindowMs: Infinity,
  retryAfterMs: 1_000,
  idleInTransactionTimeoutMs: DEFAULT_IDLE_TIMEOUT_MS,
  resolveTimeoutMs: DEFAULT_RESOLVE_TIMEOUT_MS,
  replayLock: 'none',
  readFirst: false,
  maxResponseBytes: 1_048_576,
  retry: { attempts: 1 },
}

/** Those options alone, of whatever has more. */
export function optionsOf(given: ResolvedOptions): ResolvedOptions {
  const names = [...Object.keys(defaults), 'onOutcome'] as (keyof ResolvedOptions)[]
  const set = names.filter((name) => given[name] !== undefined)
  return Object.freeze(
    Object.fromEntries(set.map((name) => [name, given[name]])),
  ) as ResolvedOptions
}

const HUNDRED_YEARS_MS = 100 * 365.25 * 86_400_000

/**
 * Fills in what is not given, checks and freezes.
 *
 * @param inherited - the options to start from.
 * @throws OncelyError `invalid_options`.
 */
export function resolveOptions(
  given: IdempotencyOptions,
  inherited: ResolvedOptions = defaults,
): ResolvedOptions {
  checkNames(given, [...Object.keys(defaults), 'onOutcome'])
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const options: ResolvedOptions = { ...inherited, ...Object.fromEntries(set) }
  checkSchema(options.schema)
  checkTimeout('lockTimeoutMs', options.lockTimeoutMs)
  checkMs('replayWindowMs', options.replayWindowMs, HUNDRED_YEARS_MS)
  if (options.tombstoneWindowMs !== Infinity) {
    checkMs('tombstoneWindowMs', options.tombstoneWindowMs, HUNDRED_YEARS_MS)
  }
  checkTimeout('retryAfterMs', options.retryAfterMs)
  checkTimeout('idleInTransactionTimeoutMs', options.idleInTransactionTimeoutMs)
  checkTimeout('resolveTimeoutMs', options.resolveTimeoutMs)
  if (!['none', 'share'].includes(options.replayLock)) {
    throw invalid(`replayLock must be 'none' or 'share'`)
  }
  if (typeof options.readFirst !== 'boolean') throw invalid('readFirst must be true or false')
  checkWhole('maxResponseBytes', options.maxResponseBytes, 1, 268_435_456)
  checkNames(options.retry, ['attempts'])
  checkWhole('retry.attempts', options.retry.attempts, 1, 10)
  if (options.onOutcome !== undefined && typeof options.onOutcome !== 'function') {
    throw invalid('onOutcome must be a function')
  }
  return Object.freeze(options)
}
