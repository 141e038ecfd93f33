import type { Rejection } from './call/rejection.ts'
import type { BusinessIdentity } from './operation.ts'
import type { Stored } from './response/stored.ts'
import type { Denied, Duplicate, QuotaExceeded } from './result.ts'

/** What the options of an instance do to the type of its results. */
export interface Shape {
  /** The kinds that are there only with their option: `denied`, `duplicate`, `quota_exceeded`. */
  readonly extra: unknown
  /** Whether a codec of the host's own keeps values as they are, instead of JSON. */
  readonly codec: boolean
  /** What `replay` makes; `SameAsFirst` without it. */
  readonly replayed: unknown
}

/** A replay that has the type of the first answer. */
export interface SameAsFirst {
  /** @internal */
  readonly sameAsFirst: never
}

/** An instance without any of the options that have a say in the types. */
export interface PlainShape extends Shape {
  readonly extra: never
  readonly codec: false
  readonly replayed: SameAsFirst
}

/** The type of an option where it is given at all. */
type Given<Options, Name extends PropertyKey> = Name extends keyof Options
  ? Exclude<Options[Name], undefined>
  : never

type IfGiven<Options, Name extends PropertyKey, Then, Else> = [Given<Options, Name>] extends [never]
  ? Else
  : Then

type DuplicateOf<Business> =
  Business extends BusinessIdentity<never, infer Value> ? Duplicate<Value> : Duplicate<unknown>

/** The shape of an instance that has these options on top of another's. */
export interface ShapeWith<Before extends Shape, Options> extends Shape {
  readonly extra:
    | Before['extra']
    | IfGiven<Options, 'authorize', Denied, never>
    | IfGiven<Options, 'quota', QuotaExceeded, never>
    | IfGiven<Options, 'businessIdentity', DuplicateOf<Given<Options, 'businessIdentity'>>, never>
  readonly codec: [Given<Options, 'codec'>] extends [never] ? Before['codec'] : true
  readonly replayed: Given<Options, 'replay'> extends (...args: never[]) => infer Made
    ? [Given<Options, 'replay'>] extends [never]
      ? Before['replayed']
      : Awaited<Made>
    : Before['replayed']
}

/** What callers get of what a business function returns, rejections set aside. */
export type ValueOf<Returned, Of extends Shape = PlainShape> = Of['codec'] extends true
  ? Exclude<Returned, Rejection<unknown>>
  : Stored<Exclude<Returned, Rejection<unknown>>>

/**
 * What callers get of what a business function rejects with. A function that rejects nothing may
 * still meet a refusal that an earlier version of it stored.
 */
export type RefusalOf<Returned, Of extends Shape = PlainShape> =
  Extract<Returned, Rejection<unknown>> extends Rejection<infer Refusal>
    ? Of['codec'] extends true
      ? Refusal
      : Stored<Refusal>
    : unknown

/** What a replay gives. */
export type ReplayOf<Returned, Of extends Shape = PlainShape> = Of['replayed'] extends SameAsFirst
  ? ValueOf<Returned, Of>
  : Of['replayed']
