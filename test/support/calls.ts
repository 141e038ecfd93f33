/** Runs beside the test, which looks at the outcome later, or never if it fails before. */
export function beside<T>(call: Promise<T>): Promise<T> {
  call.catch(() => undefined)
  return call
}

/** What a call failed with, to be compared by identity. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`it should have failed and came to ${JSON.stringify(outcome.value)}`)
}
