import type { Rejection } from './call/rejection.ts'
import type { Codec } from './response/codec.ts'
import type { Stored } from './response/stored.ts'
import type { Denied, Duplicate, QuotaExceeded, Resolution } from './result.ts'

/** What the options of an instance do to the type of its results. */
export interface Shape {
  /** The kinds that are there only with their option: `denied`, `duplicate`, `quota_exceeded`. */
  readonly extra: unknown
  /** What the codec keeps of the types of values. */
  readonly codec: Codec['keeps']
  /** What `replay` makes; `SameAsFirst` without it. */
  readonly replayed: unknown
}

declare const sameAsFirst: unique symbol

/** A replay that has the type of the first answer. */
export interface SameAsFirst {
  /** For the compiler alone: nothing else is of this type. */
  readonly [sameAsFirst]: true
}

/** An instance without any of the options that have a say in the types. */
export interface PlainShape extends Shape {
  readonly extra: never
  readonly codec: 'json'
  readonly replayed: SameAsFirst
}

/** The type of an option where it is given at all. */
type Given<Options, Name extends PropertyKey> = Name extends keyof Options
  ? Exclude<Options[Name], undefined>
  : never

type IfGiven<Options, Name extends PropertyKey, Then, Else> = [Given<Options, Name>] extends [never]
  ? Else
  : Then

type DuplicateOf<Business> = Business extends { resolve: (...args: never[]) => infer Made }
  ? Duplicate<Exclude<Awaited<Made>, undefined> extends Resolution<infer Value> ? Value : unknown>
  : Duplicate<unknown>

/** The shape of an instance that has these options on top of another's. */
export interface ShapeWith<Before extends Shape, Options> extends Shape {
  readonly extra:
    | Before['extra']
    | IfGiven<Options, 'authorize', Denied, never>
    | IfGiven<Options, 'quota', QuotaExceeded, never>
    | IfGiven<Options, 'businessIdentity', DuplicateOf<Given<Options, 'businessIdentity'>>, never>
  readonly codec: 'codec' extends keyof Options
    ? Options['codec'] extends Codec<infer Keeps>
      ? Keeps
      : Before['codec'] | 'types' | 'nothing'
    : Before['codec']
  readonly replayed: Given<Options, 'replay'> extends (...args: never[]) => infer Made
    ? [Given<Options, 'replay'>] extends [never]
      ? Before['replayed']
      : Awaited<Made>
    : Before['replayed']
}

/** A value as the codec gives it; one that may be of several kinds leaves all of them open. */
type Kept<Value, Keeps extends Codec['keeps']> = Keeps extends 'json'
  ? Stored<Value>
  : Keeps extends 'types'
    ? Value
    : unknown

/** What callers get of what a business function returns, rejections set aside. */
export type ValueOf<Returned, Of extends Shape = PlainShape> = Kept<
  Exclude<Returned, Rejection<unknown>>,
  Of['codec']
>

/**
 * What callers get of what a business function rejects with. A function that rejects nothing may
 * still meet a refusal that an earlier version of it stored.
 */
export type RefusalOf<Returned, Of extends Shape = PlainShape> =
  Extract<Returned, Rejection<unknown>> extends Rejection<infer Refusal>
    ? Kept<Refusal, Of['codec']>
    : unknown

/** What a replay gives. */
export type ReplayOf<Returned, Of extends Shape = PlainShape> = Of['replayed'] extends SameAsFirst
  ? ValueOf<Returned, Of>
  : Of['replayed']
