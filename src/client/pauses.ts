import { raced } from './bounds.ts'
import type { Call } from './call.ts'

/**
 * Waits that long, in milliseconds, or until the deadline.
 *
 * @throws the reason of the caller's signal, at once, when that aborts.
 */
export async function pause(ms: number, call: Call): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await raced(call.signal, () => new Promise((resolve) => (timer = setTimeout(resolve, ms))))
  } catch {
    call.throwIfAborted()
  } finally {
    clearTimeout(timer)
  }
}

/** What is asked again without end is asked no more often than that, whatever the options say. */
const LEAST_UNDER_WAY_MS = 10
const MOST_JITTER_MS = 1_000
/** Beyond every pause, and no infinity. */
const MOST_DOUBLINGS = 31

/** Why there is a pause, and how long the options let it be. */
export interface PauseReason {
  /** All attempts until now. */
  readonly attempts: number
  /** Whether the first is under way: that is bounded by the deadline alone. */
  readonly isUnderWay: boolean
  /** By `Retry-After`, in milliseconds. */
  readonly askedMs: number | undefined
  readonly initialDelayMs: number
  readonly maxDelayMs: number
}

/** A random part of what doubles with each attempt, so that clients that failed together do not come together. */
export function pauseMsOf(reason: PauseReason): number {
  const { attempts, isUnderWay, askedMs, initialDelayMs, maxDelayMs } = reason
  const least = isUnderWay ? LEAST_UNDER_WAY_MS : 0
  const doubled = Math.max(initialDelayMs, least) * 2 ** Math.min(attempts - 1, MOST_DOUBLINGS)
  const backoff = Math.max(least, Math.random() * Math.min(maxDelayMs, doubled))
  // All of them were told the same.
  const jitter = Math.random() * Math.min((askedMs ?? 0) / 4, MOST_JITTER_MS)
  return Math.max(backoff, (askedMs ?? 0) + jitter)
}
