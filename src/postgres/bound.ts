import { OVER } from './within.ts'

/** When work on the database is to be given up. */
export interface Bound {
  /** None when nothing bounds it. */
  readonly signal: AbortSignal | undefined
  /** Throws once it is to be given up. */
  readonly check: () => void
}

export const UNBOUNDED: Bound = { signal: undefined, check: () => undefined }

/**
 * Waits for `work` until it is to be given up; then `work` goes on by itself, to an end that nobody
 * hears of.
 *
 * @throws what `check` throws.
 */
export async function untilGivenUp<Value>(
  { signal, check }: Bound,
  work: Promise<Value>,
): Promise<Value> {
  if (!signal) return work
  let giveUp: () => void = () => undefined
  const given = new Promise<never>((resolve) => {
    giveUp = () => {
      // What `check` throws is what the promise is rejected with.
      resolve(new Promise<never>(check))
    }
  })
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  work.catch(() => undefined)
  try {
    return await Promise.race([work, given])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Waits for `work` and gives nothing up, but stops waiting once the signal aborts. */
export async function unlessAborted<Value>(
  { signal }: Bound,
  work: Promise<Value>,
): Promise<Value | typeof OVER> {
  if (!signal) return work
  if (signal.aborted) return OVER
  const aborted = Promise.withResolvers<typeof OVER>()
  const stop = () => {
    aborted.resolve(OVER)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
