import { setTimeout } from 'node:timers/promises'

import { checkMs, checkNames, checkWhole } from '../checks.ts'
import { OncelyError } from '../errors.ts'
import { OVER, within } from '../postgres/within.ts'
import { readByKind, type Reading } from './reading.ts'

/** What a caller is told in the end. */
export type Told<Result> =
  | {
      /** What the call returned. */
      readonly result: Result
    }
  | {
      /** What it threw. */
      readonly error: unknown
    }

/** One call, and what its caller was told. */
export interface ToldCall<Result = unknown> {
  /** What it came to: its result, or what it threw; undefined while it is under way. */
  readonly told: Told<Result> | undefined
  /** Whether the caller had no patience left and went on before it was told. */
  readonly givenUp: boolean
  /** Resolves when it has been told, also after it was given up. */
  readonly ended: Promise<unknown>
}

/** Options of `retryUntilFinal`. */
export interface RetryOptions<Result = unknown> {
  /**
   * What the caller makes of an answer.
   *
   * @defaultValue by `kind`: `executed` and `applied` took effect; `in_progress` and `quota_exceeded`
   * again; `unknown`; anything else is final. The answer is the `value` or the `refusal`, else the kind.
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
 * @throws OncelyError `invalid_options`; `deadline_exceeded` when no call had one, whose cause is what the last one was told.
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
  checkNames(options, [...retryOptions, 'onRetry'])
  checkRetryOptions(options)
  return untilFinal(call, options)
}

/** The same for options that have been checked. */
export async function untilFinal<Result>(
  call: () => Promise<Result>,
  options: RetryOptions<Result>,
): Promise<readonly ToldCall<Result>[]> {
  const calls = await callUntilFinal(call, options)
  const last = calls.at(-1)
  if (last && lastWordOf(last, options.read ?? readByKind)) return calls
  throw new OncelyError('deadline_exceeded', `no last word after ${calls.length} calls`, {
    cause: last?.told,
  })
}

export const PATIENCE_MS = 1_000

export const retryOptions = ['read', 'patienceMs', 'pauseMs', 'attempts'] as const

/** @throws OncelyError `invalid_options`. */
export function checkRetryOptions<Result>({
  patienceMs = 0,
  pauseMs = 0,
  attempts = 1,
}: RetryOptions<Result>): void {
  checkMs('patienceMs', patienceMs, MAX_TIMER_MS, 0)
  checkMs('pauseMs', pauseMs, MAX_TIMER_MS, 0)
  checkWhole('attempts', attempts, 1, Number.MAX_SAFE_INTEGER)
}

/** A timer of Node's that is set for longer goes off at once. */
const MAX_TIMER_MS = 2_147_483_647

/** The same, which also returns calls of which none had a last word. */
export async function callUntilFinal<Result>(
  call: () => Promise<Result>,
  options: RetryOptions<Result>,
): Promise<readonly ToldCall<Result>[]> {
  const {
    read = readByKind,
    patienceMs = PATIENCE_MS,
    pauseMs = 20,
    attempts = 200,
    onRetry,
  } = options
  const calls: ToldCall<Result>[] = []
  while (calls.length < attempts) {
    if (calls.length > 0) {
      await setTimeout(pauseMs)
      onRetry?.(calls.length)
    }
    const made = await make(call, patienceMs)
    calls.push(made)
    if (lastWordOf(made, read)) break
  }
  return calls
}

/** The last word of a call, if it had one. */
export function lastWordOf<Result>(
  { told }: ToldCall<Result>,
  read: (result: Result) => Reading,
): Reading | undefined {
  const reading = told && 'result' in told ? read(told.result) : undefined
  return reading?.says === 'executed' || reading?.says === 'final' ? reading : undefined
}

/** Makes a call, and waits for it as long as the patience lasts. */
async function make<Result>(
  call: () => Promise<Result>,
  patienceMs: number,
): Promise<ToldCall<Result>> {
  const running = async () => call()
  const made: MadeCall<Result> = {
    told: undefined,
    givenUp: false,
    ended: running().then(
      (result) => {
        made.told = { result }
      },
      (error: unknown) => {
        made.told = { error }
      },
    ),
  }
  if ((await within(patienceMs, made.ended)) === OVER) made.givenUp = true
  return made
}

interface MadeCall<Result> extends ToldCall<Result> {
  told: Told<Result> | undefined
  givenUp: boolean
}
