/** Waits that long, in milliseconds. @throws the reason of the signal, at once, when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal.addEventListener('abort', aborted, { once: true })
  })
}

/** A random part of what doubles with each attempt, so that clients that failed together do not come together. */
export function backoffMs(attempts: number, least: number, most: number): number {
  return Math.random() * Math.min(most, least * 2 ** (attempts - 1))
}
