import { setTimeout } from 'node:timers/promises'

import { OVER, within } from '../postgres/within.ts'
import { type Reading, readByKind } from './reading.ts'

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

/** How a caller goes about it. */
export interface Manner<Result> {
  readonly read?: (result: Result) => Reading
  readonly patienceMs?: number
  readonly pauseMs?: number
  readonly attempts?: number
  readonly onRetry?: (made: number) => unknown
}

/** Calls until one has a last word, or as often as the caller may. */
export async function callUntilFinal<Result>(
  call: () => Promise<Result>,
  { read = readByKind, patienceMs = 1_000, pauseMs = 20, attempts = 200, onRetry }: Manner<Result>,
): Promise<readonly ToldCall<Result>[]> {
  const calls: ToldCall<Result>[] = []
  while (calls.length < attempts) {
    if (calls.length > 0) {
      await setTimeout(pauseMs)
      onRetry?.(calls.length)
    }
    const made = await callOnce(call, patienceMs)
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
  return reading?.says === 'again' || reading?.says === 'unknown' ? undefined : reading
}

/** Waits as long as the patience lasts. */
async function callOnce<Result>(
  call: () => Promise<Result>,
  patienceMs: number,
): Promise<ToldCall<Result>> {
  const running = async () => call()
  const made: { -readonly [Name in keyof ToldCall<Result>]: ToldCall<Result>[Name] } = {
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
