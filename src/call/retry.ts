import { setTimeout } from 'node:timers/promises'

import { type Bound, untilGivenUp } from '../postgres/bound.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'

/** Twice as long each time, and never the same for two that met: they would meet again. */
const FIRST_PAUSE_MS = 20

const passing: readonly unknown[] = [SQLSTATE.serializationFailure, SQLSTATE.deadlockDetected]

/**
 * Runs a call again, up to so many times in all, that certainly took no effect and may well do so the
 * next time: behind a serialisation failure, a deadlock, no connection, or one that was lost before
 * COMMIT was sent.
 *
 * @param run - is given a function to call when this run has lost its connection.
 * @throws the error of the last run.
 */
export async function retried<Value>(
  attempts: number,
  bound: Bound,
  run: (onLost?: () => void) => Promise<Value>,
): Promise<Value> {
  if (attempts === 1) return run()
  for (let attempt = 1; ; attempt += 1) {
    const connection = { lost: false }
    try {
      return await run(() => {
        connection.lost = true
      })
    } catch (error) {
      const passes = connection.lost || passing.includes(sqlState(error))
      if (attempt >= attempts || !passes) throw error
      const pause = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
      await untilGivenUp(bound, setTimeout(pause))
    }
  }
}
