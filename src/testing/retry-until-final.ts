import { setTimeout } from 'node:timers/promises'

import { OncelyError } from '../errors.ts'
import { OVER, within } from '../postgres/within.ts'

/** What a caller makes of an answer: whether to ask again, and what it was told. */
export interface Reading {
  /**
   * - `executed`: this very call took effect.
   * - `again`: nothing is certain yet, so the same call is to be made again.
   * - `unknown`: likewise, and this call may have taken effect.
   * - `final`: any other last word, such as a replay or a refusal.
   */
  readonly says: 'executed' | 'again' | 'unknown' | 'final'
  /** What every last word has to agree on, such as the value, or a body and its status. */
  readonly answer?: unknown
}

/** One call, and what its caller was told. */
export interface ToldCall<Result> {
  /** Undefined while it is under way. */
  readonly told: { readonly result: Result } | { readonly error: unknown } | undefined
  /** Whether the caller had no patience left and went on before it was told. */
  readonly givenUp: boolean
  /** Resolves when it has been told, also after it was given up. */
  readonly ended: Promise<unknown>
}

/** Options of `retryUntilFinal`. */
export interface RetryOptions<Result> {
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
 * @throws OncelyError `deadline_exceeded` when no call had one; its cause is what the last one was told.
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
  const calls = await callUntilFinal(call, options)
  const last = calls.at(-1)
  if (last && lastWordOf(last, options.read ?? readByKind)) return calls
  throw new OncelyError('deadline_exceeded', `no last word after ${calls.length} calls`, {
    cause: last?.told,
  })
}

/** The same, which also returns calls of which none had a last word. */
export async function callUntilFinal<Result>(
  call: () => Promise<Result>,
  options: RetryOptions<Result>,
): Promise<readonly ToldCall<Result>[]> {
  const { read = readByKind, patienceMs = 1_000, pauseMs = 20, attempts = 200, onRetry } = options
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
  told: ToldCall<Result>['told']
  givenUp: boolean
}

/** The results of `withIdempotency`, or of anything that passes them on. */
export function readByKind(result: unknown): Reading {
  const { kind, value, refusal } = Object(result) as Record<string, unknown>
  switch (kind) {
    case 'executed':
    case 'applied':
      return { says: 'executed', answer: value }
    case 'unknown':
      return { says: 'unknown' }
    case 'in_progress':
    case 'quota_exceeded':
      return { says: 'again' }
    case 'replayed':
      return { says: 'final', answer: value }
    case 'rejected':
      return { says: 'final', answer: refusal }
    default:
      return { says: 'final', answer: kind === undefined ? result : kind }
  }
}
