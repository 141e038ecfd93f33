import { setTimeout } from 'node:timers/promises'

/** By how much a pause may be shorter or longer than it is asked to be. */
const JITTER = 0.25

/**
 * Waits for about that long, in milliseconds, or until the signal aborts. Not to the millisecond, so
 * that workers which start together do not come together for ever.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const jittered = ms * (1 - JITTER + Math.random() * 2 * JITTER)
  try {
    await setTimeout(jittered, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
