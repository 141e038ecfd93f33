import { setTimeout } from 'node:timers/promises'

import { type Bound, untilGivenUp } from '../postgres/bound.ts'
import { isPassing } from '../postgres/transact.ts'

/** Twice as long each time, and never the same for two that met: they would meet again. */
const FIRST_PAUSE_MS = 20

/**
 * Runs a call again that took no effect for a passing reason, up to so many times in all.
 *
 * @throws the error of the last run.
 */
export async function retried<Value>(
  attempts: number,
  bound: Bound,
  run: (attempt: number) => Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(attempt)
    } catch (error) {
      if (attempt >= attempts || !isPassing(error)) throw error
      const pause = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
      await untilGivenUp(bound, setTimeout(pause))
    }
  }
}
