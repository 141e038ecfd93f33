/** A signal that also ends with time. */
export interface Bound {
  readonly signal: AbortSignal
  /** What its signal has for a reason where it was time that ended it. */
  readonly late: DOMException
  /** To be called in the end, so that nothing is left on the outer signal. */
  readonly release: () => void
}

/**
 * Aborts with the outer signal, with the reason of that, or when the time is over. By hand, as older browsers have no
 * `AbortSignal.any`.
 */
export function within(outer: AbortSignal | undefined, ms: number, what: string): Bound {
  const inner = new AbortController()
  const late = new DOMException(`${what} took too long`, 'TimeoutError')
  const follow = () => {
    inner.abort(outer?.reason)
  }
  const timer = setTimeout(() => {
    inner.abort(late)
  }, ms)
  outer?.addEventListener('abort', follow)
  if (outer?.aborted) follow()
  return {
    signal: inner.signal,
    late,
    release() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', follow)
    },
  }
}

/**
 * What comes of the work, which is begun in any case, if it comes before the signal aborts: work may hang, and know
 * of no signal.
 *
 * @throws the reason of the signal, at once, when it aborts.
 */
export async function raced<T>(signal: AbortSignal, work: () => T | PromiseLike<T>): Promise<T> {
  let aborted = () => {}
  const gone = new Promise<never>((_resolve, reject) => {
    aborted = () => {
      reject(signal.reason as Error)
    }
  })
  // Where the work throws, nobody waits for it.
  gone.catch(() => undefined)
  signal.addEventListener('abort', aborted)
  try {
    const working = work()
    if (signal.aborted) aborted()
    return await Promise.race([working, gone])
  } finally {
    signal.removeEventListener('abort', aborted)
  }
}
