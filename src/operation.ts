import type { Transaction } from 'kysely'

import { checkMs, checkNames, checkWhole, invalid } from './checks.ts'
import { type IdempotencyOptions, resolveOptions, type ResolvedOptions } from './options.ts'
import type { Codec } from './response/codec.ts'
import type { Resolution, Resource } from './result.ts'
import type { Scope } from './scope.ts'

/** What a committed record says of itself to those who decide about a replay; not its response. */
export interface RecordView {
  /** Whose record it is. */
  readonly scope: Scope
  /** The idempotency key. */
  readonly key: string
  /** What is there to be replayed: a value, a refusal, or nothing any more. */
  readonly state: 'completed' | 'rejected' | 'expired'
  /** What the first call pointed to with `context.resource`, if it did. */
  readonly resource?: Resource
  /** When the first call claimed the key, by the database's clock. */
  readonly createdAt: Date
}

/** Finds what is there already under another key. */
export interface BusinessIdentity<DB, Value> {
  /**
   * The name of the unique constraint, or of the unique index, by which the business knows that there
   * can be only one. A violation of any other stays an error of the business function.
   */
  readonly constraint: string
  /**
   * The table that the constraint belongs to, where another table has one of that name.
   *
   * @defaultValue any.
   */
  readonly table?: string
  /**
   * Says what to tell the caller, reading in a fresh transaction behind the rollback; of a call that
   * has joined a transaction, in that one. What it writes is undone; what it throws is thrown.
   *
   * @returns `undefined` when the object is gone again: then the call fails with the violation.
   */
  readonly resolve: (
    tx: Transaction<DB>,
    call: { readonly scope: Scope; readonly key: string; readonly error: unknown },
  ) => Promise<Resolution<Value> | undefined> | Resolution<Value> | undefined
}

/**
 * How many new keys one actor of a tenant may use. Replays do not count, nor what fails; a refusal
 * does. Operations whose windows are as long share their count.
 */
export interface Quota {
  /** How many, from 1 to 1,000,000. */
  readonly limit: number
  /**
   * In how long, in milliseconds, from 1,000 to 31 days. The window slides in tenths: a use counts for
   * the window, and up to a tenth of it longer.
   */
  readonly windowMs: number
}

/** How one operation works: everything that an instance has, and what only some operations need. */
export interface OperationOptions<DB> extends Omit<IdempotencyOptions, 'tombstoneWindowMs'> {
  /**
   * Asked before every replay, of a refusal and of a tombstone too, whether the caller may still see
   * what the record holds; anything but `true` makes it `denied`. Statements on `tx` alone, since the
   * record is locked meanwhile: a remote authorisation comes before the call.
   *
   * @defaultValue none: whoever has scope, key and fingerprint is given the replay.
   */
  readonly authorize?: (tx: Transaction<DB>, record: RecordView) => Promise<boolean> | boolean
  /**
   * Makes the answer of a replay anew, under the rights that the caller has now, from what
   * `context.resource` points to. The response itself is not stored then. Statements on `tx` alone,
   * whose writes are undone.
   *
   * @defaultValue none: the stored response.
   */
  readonly replay?: (tx: Transaction<DB>, record: RecordView) => unknown
  /**
   * What becomes of a call whose business object exists under another key.
   *
   * @defaultValue none: the violation of the unique constraint is thrown.
   */
  readonly businessIdentity?: BusinessIdentity<DB, unknown>
  /**
   * Bounds the new keys of one actor. Approximate: calls at the same moment do not see each other.
   *
   * @defaultValue none.
   */
  readonly quota?: Quota
  /**
   * How values and refusals are written and read.
   *
   * @defaultValue JSON, in which a Date is a string.
   */
  readonly codec?: Codec
}

/** The options of an operation with every default filled in. */
export interface Operation<DB> extends ResolvedOptions {
  readonly authorize?: NonNullable<OperationOptions<DB>['authorize']>
  readonly replay?: NonNullable<OperationOptions<DB>['replay']>
  readonly businessIdentity?: BusinessIdentity<DB, unknown>
  readonly quota?: Quota
  readonly codec: Codec
}

const DAY_MS = 86_400_000
const names = ['authorize', 'replay', 'businessIdentity', 'quota', 'codec'] as const

/**
 * Fills in what is not given, checks and freezes.
 *
 * @throws OncelyError `invalid_options`.
 */
export function resolveOperation<DB>(
  given: OperationOptions<DB>,
  inherited: Operation<DB>,
): Operation<DB> {
  // Its names are checked below, with those of every instance.
  checkNames(given, Object.keys(Object(given) as object))
  const { authorize, replay, businessIdentity, quota, codec, ...others } = given
  const own = { authorize, replay, businessIdentity, quota, codec }
  checkFunction('authorize', authorize)
  checkFunction('replay', replay)
  if (businessIdentity !== undefined) {
    checkNames(businessIdentity, ['constraint', 'table', 'resolve'])
    if (typeof businessIdentity.constraint !== 'string' || businessIdentity.constraint === '') {
      throw invalid('businessIdentity.constraint must be the name of a unique constraint')
    }
    if (typeof businessIdentity.resolve !== 'function') {
      throw invalid('businessIdentity.resolve must be a function')
    }
  }
  if (quota !== undefined) {
    checkNames(quota, ['limit', 'windowMs'])
    checkMs('quota.windowMs', quota.windowMs, 31 * DAY_MS, 1_000)
    checkWhole('quota.limit', quota.limit, 1, 1_000_000)
  }
  if (codec !== undefined) {
    const { encode, decode, keeps } = Object(codec) as Partial<Codec>
    if (!['json', 'types', 'nothing'].includes(String(keeps))) {
      throw invalid("codec.keeps must be 'json', 'types' or 'nothing'")
    }
    if (typeof encode !== 'function' || typeof decode !== 'function') {
      throw invalid('codec must have the functions encode and decode')
    }
  }
  if (Object.hasOwn(others, 'tombstoneWindowMs')) {
    throw invalid('tombstoneWindowMs is of all records: give it to createIdempotency')
  }
  const kept = Object.fromEntries(
    names.flatMap((name) => {
      const given: unknown = own[name]
      // A copy, so that what was checked stays as it is.
      const value: unknown = given === undefined ? inherited[name] : copied(given)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
  return Object.freeze({ ...inherited, ...resolveOptions(others, inherited), ...kept })
}

function copied(value: unknown): unknown {
  const plain = typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
  return plain ? Object.freeze({ ...value }) : value
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function')
    throw invalid(`${name} must be a function`)
}
