import { OncelyError } from '../errors.ts'

/**
 * What the platform makes of what the caller gave.
 *
 * @throws OncelyError `invalid_options`, whose cause is what the platform throws.
 */
export function madeOf<T>(make: () => T): T {
  try {
    return make()
  } catch (cause) {
    throw misuse(cause)
  }
}

/** What the platform says of a misuse, as an error of ours. */
export function misuse(cause: unknown): OncelyError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new OncelyError('invalid_options', `the request cannot be made: ${message}`, { cause })
}
