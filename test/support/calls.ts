import type { Gate } from './gate.ts'

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

/** Waits until a call stops at the gate. One that ends before fails the test, which would hang. */
export async function stopsAt(gate: Gate, call: Promise<unknown>): Promise<void> {
  const ended = call.then(() => {
    throw new Error('the call ended and had not come to the gate')
  })
  await Promise.race([gate.reached, ended])
}
