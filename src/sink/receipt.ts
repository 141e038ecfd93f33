import type { GapPolicy } from './options.ts'

/** The function ran, and its writes are committed. */
export interface Applied<Value> {
  readonly kind: 'applied'
  /** What the function returned. */
  readonly value: Value
  /** How many sequences were passed over, by the policy `apply`; 0 where none is missing, or there are none. */
  readonly missing: number
}

/** This consumer has had the event before; nothing ran. */
export interface DuplicateEvent {
  readonly kind: 'duplicate'
}

/** A newer event of its aggregate was applied before, or another of the same sequence; nothing ran, nor ever will. */
export interface Stale {
  readonly kind: 'stale'
  /** The sequence that was applied last, in decimal digits; it may be larger than a number can be. */
  readonly last: string
}

/** Some event is missing in front of it; nothing ran, and nothing is noted of it. */
export interface Gap<Policy extends GapPolicy = GapPolicy> {
  readonly kind: 'gap'
  /** By what it was left alone: `'wait'` for it to be delivered again, `'refuse'` for it not to be. */
  readonly policy: Policy
  /** The sequence that is missing, in decimal digits. */
  readonly expected: string
}

/** What became of a delivery. A gap exists only where the sink's policy is to mind it. */
export type Receipt<Value, Gaps extends GapPolicy = 'apply'> =
  Applied<Value> | DuplicateEvent | Stale | (Gaps extends 'apply' ? never : Gap<Gaps>)
