import { checkMs, checkNames, checkWhole, invalid } from '../checks.ts'
import { OncelyError } from '../errors.ts'
import { callUntilFinal, lastWordOf, type Told, type ToldCall } from './calls.ts'
import { type Reading, readByKind } from './reading.ts'

/** Options of `retryUntilFinal`. */
export interface RetryOptions<Result = unknown> {
  /**
   * What the caller makes of an answer. To be given for answers that have no `kind` of oncely's, such as
   * those of HTTP: each of them counts as a last word otherwise, a 503 as well.
   *
   * @defaultValue by `kind`: `executed` and `applied` took effect; a `rejected` that is no replay was refused for
   * good; `in_progress` and `quota_exceeded` again; `unknown`; anything else is final. The answer is the `value` or
   * the `refusal`, else the kind.
   */
  readonly read?: (result: Result) => Reading
  /**
   * How long the caller waits for one call before it makes the next, in milliseconds.
   *
   * @defaultValue 1,000
   */
  readonly patienceMs?: number
  /**
   * How long the caller waits between two calls, in milliseconds.
   *
   * @defaultValue 20
   */
  readonly pauseMs?: number
  /**
   * How many calls it makes at most.
   *
   * @defaultValue 200
   */
  readonly attempts?: number
  /** Is told before each call but the first, with the number of those made so far. */
  readonly onRetry?: (made: number) => unknown
}

/**
 * Makes a call again and again, as a client with one intent and one key does, until it has a last
 * word. Whatever is thrown counts as a failed call, and is followed by another one.
 *
 * @param call - the same each time: same scope, key and fingerprint.
 * @returns the calls in their order; the last one has the last word.
 * @throws OncelyError `invalid_options`; `not_final` when no call had one, whose cause is what the last
 * one came to.
 *
 * @example
 * ```ts
 * const calls = await retryUntilFinal(() => placeOrder(idempotency, key, order))
 * ```
 */
export async function retryUntilFinal<Result>(
  call: () => Promise<Result>,
  options: RetryOptions<Result> = {},
): Promise<readonly ToldCall<Result>[]> {
  if (typeof call !== 'function') throw invalid('call must be a function')
  checkNames(options, [...retryOptions, 'onRetry'])
  checkRetryOptions(options)
  const calls = await callUntilFinal(call, options)
  const last = calls.at(-1)
  if (last && lastWordOf(last, options.read ?? readByKind)) return calls
  throw notFinal(`no last word after ${calls.length} calls`, last?.told)
}

export const retryOptions = ['read', 'patienceMs', 'pauseMs', 'attempts'] as const

/** @throws OncelyError `invalid_options`. */
export function checkRetryOptions<Result>(options: RetryOptions<Result>): void {
  const { patienceMs = 0, pauseMs = 0, attempts = 1, read, onRetry } = options
  checkMs('patienceMs', patienceMs, MAX_TIMER_MS, 0)
  checkMs('pauseMs', pauseMs, MAX_TIMER_MS, 0)
  checkWhole('attempts', attempts, 1, Number.MAX_SAFE_INTEGER)
  for (const [name, given] of Object.entries({ read, onRetry })) {
    if (given !== undefined && typeof given !== 'function')
      throw invalid(`${name} must be a function`)
  }
}

export function notFinal(message: string, told: Told<unknown> | undefined): OncelyError {
  const cause = told && ('error' in told ? told.error : told.result)
  return new OncelyError('not_final', message, { cause })
}

/** A timer of Node's that is set for longer goes off at once. */
export const MAX_TIMER_MS = 2_147_483_647
