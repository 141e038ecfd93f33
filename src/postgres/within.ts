/** What `within` answers when the time is over. */
export const OVER: unique symbol = Symbol('over')

/** What a promise comes to, or OVER after so many milliseconds; a later settlement is ignored. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | typeof OVER> {
  // Also when it loses the race, so that its failure is nobody's unhandled rejection.
  promise.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<typeof OVER>((resolve) => {
    timer = setTimeout(resolve, Math.max(ms, 0), OVER)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}
