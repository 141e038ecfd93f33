import { OncelyError } from './errors.ts'

/** PostgreSQL keeps timeouts as 32-bit milliseconds. */
const MAX_TIMEOUT_MS = 2_147_483_647

/**
 * Checks that options are an object with no other names than these: a misspelt one would silently
 * do nothing.
 *
 * @throws OncelyError `invalid_options`.
 */
export function checkNames(given: unknown, names: readonly string[]): void {
  if (Object.prototype.toString.call(given) !== '[object Object]') {
    throw invalid('the options must be an object')
  }
  for (const name of Object.keys(Object(given) as object)) {
    if (!names.includes(name)) throw invalid(`there is no option '${name}'`)
  }
}

/**
 * Checks the name of a schema: what PostgreSQL keeps of an identifier without cutting it.
 *
 * @throws OncelyError `invalid_options`.
 */
export function checkSchema(schema: unknown): asserts schema is string {
  if (typeof schema !== 'string' || !/^[^\0]+$/.test(schema) || !schema.isWellFormed()) {
    throw invalid('schema must be the name of a PostgreSQL schema')
  }
  if (Buffer.byteLength(schema) > 63) {
    throw invalid('schema must have at most 63 octets, which is what PostgreSQL keeps of a name')
  }
}

/**
 * Checks a timeout of PostgreSQL's.
 *
 * @throws OncelyError `invalid_options`.
 */
export function checkTimeout(name: string, value: unknown): void {
  checkMs(name, value, MAX_TIMEOUT_MS)
}

/** @throws OncelyError `invalid_options`. */
export function checkFlag(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false`)
}

/** @throws OncelyError `invalid_options`. */
export function checkMs(name: string, value: unknown, max: number, min = 1): void {
  checkWhole(name, value, min, max, ' of milliseconds')
}

/** @throws OncelyError `invalid_options`. */
export function checkWhole(
  name: string,
  value: unknown,
  min: number,
  max: number,
  unit = '',
): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return
  throw invalid(`${name} must be a whole number${unit} from ${min} to ${max}`)
}

/** What every misuse of an option is told by. */
export function invalid(message: string): OncelyError {
  return new OncelyError('invalid_options', message)
}
