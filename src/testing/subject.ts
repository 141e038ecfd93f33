import { invalid } from '../checks.ts'
import type { Finding } from './judge.ts'
import type { ToldCall } from './calls.ts'

/** What is to be proved, such as a handler of one's own. */
export interface Subject<Result> {
  /** Of the server the proxy stands before. */
  readonly url: string
  /** Makes ready for the call, such as by an earlier one; on a connection of one's own. */
  readonly prepare?: (key: string) => Promise<unknown>
  /**
   * Connects through the proxy: a pool of its own, and what is built on it. New for each fault. A pool of
   * node-postgres has to be guarded, by `guardPool` say: a connection lost while it is idle ends the process
   * otherwise.
   */
  readonly open: (url: string) => Opened<Result> | Promise<Opened<Result>>
  /** How often the business took effect for that key, as seen from a connection of one's own: a number. */
  readonly effects: (key: string) => Promise<number>
  /** Whatever else has to hold of what is there and what callers were told. */
  readonly check?: (key: string, calls: readonly ToldCall<Result>[]) => Promise<readonly Finding[]>
}

/** A subject that is connected. */
export interface Opened<Result> {
  /** One intent: it is called again and again with the same key. */
  readonly call: (key: string) => Promise<Result>
  /** Ends its pool. */
  readonly close: () => Promise<unknown>
}

/** @throws OncelyError `invalid_options` for anything but a count. */
export async function countEffects(
  { effects }: Pick<Subject<never>, 'effects'>,
  key: string,
): Promise<number> {
  const count = await effects(key)
  if (Number.isSafeInteger(count) && count >= 0) return count
  throw invalid(`effects must come to a whole number, and not to ${String(count)}`)
}
