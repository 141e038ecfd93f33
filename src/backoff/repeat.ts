import { pause } from './pause.ts'

/** How often, and until when. */
export interface Repetition {
  /** From the end of one round to the start of the next, in milliseconds, give or take a quarter. */
  readonly intervalMs: number
  readonly signal: AbortSignal
}

/**
 * The loop of a background worker: round after round until the signal aborts, and at once where a
 * round says that there is more to do. A round that is under way is left to end by itself.
 *
 * @throws what a round throws: it deals itself with what is to be survived.
 */
export async function repeat(
  round: () => Promise<'more' | 'idle'>,
  { intervalMs, signal }: Repetition,
): Promise<void> {
  while (!signal.aborted) {
    if ((await round()) === 'idle') await pause(intervalMs, signal)
  }
}
