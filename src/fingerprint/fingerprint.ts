import { hash } from 'node:crypto'

import stringify from 'fast-json-stable-stringify'

import { OncelyError } from '../errors.ts'
import { toJsonValue } from '../json-value.ts'

/** Digest of the parameters that decide a business result. Made by `fingerprint`. */
export interface Fingerprint {
  /** How the digest was made. */
  readonly algorithm: 'sha256'
  /** Which rule chose and defaulted the parameters. Another version never matches. */
  readonly version: number
  /** 64 lower-case hexadecimal digits. */
  readonly digest: string
}

/** Options of `fingerprint`. */
export interface FingerprintOptions {
  /**
   * A whole number from 1 to 2,147,483,647 that you raise when the rule changes, such as when a
   * field is added or a default becomes another.
   */
  readonly version: number
}

const MAX_VERSION = 2_147_483_647

/**
 * The fingerprint of the parameters that decide the business result, taken after validation and
 * defaulting: SHA-256 of their canonical JSON. The order of properties does not matter; the order
 * of array items, the type of a value and the Unicode form of a text do. An undefined property is
 * absent, and -0 is 0.
 *
 * @example
 * ```ts
 * fingerprint({ sku: 'A-1', amountMinor: 1999, currency: 'EUR' }, { version: 1 })
 * ```
 *
 * @throws OncelyError `not_json` with the `path` for what JSON cannot express faithfully: NaN,
 * Infinity, undefined in an array, half of a surrogate pair, bigint, Map, Set, Date, an instance of
 * a class, a function, a cycle, an integer beyond `Number.MAX_SAFE_INTEGER`.
 * @throws OncelyError `invalid_fingerprint` for a version that is not such a number, and for
 * any other option.
 */
export function fingerprint(value: unknown, options: FingerprintOptions): Fingerprint {
  const { version, ...others } = Object(options) as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw new OncelyError('invalid_fingerprint', `a fingerprint has no option '${unknown}'`)
  }
  if (!isVersion(version)) {
    throw new OncelyError(
      'invalid_fingerprint',
      `the version of a fingerprint must be a whole number from 1 to ${MAX_VERSION}`,
    )
  }
  const digest = hash('sha256', stringify(toJsonValue(value, 'parameters')))
  return Object.freeze({ algorithm: 'sha256', version, digest })
}

/**
 * Checks what a caller passes as a fingerprint.
 *
 * @throws OncelyError `invalid_fingerprint`.
 */
export function checkFingerprint(given: Fingerprint): Fingerprint {
  const { algorithm, version, digest } = Object(given) as Record<keyof Fingerprint, unknown>
  const wellFormed = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest)
  if (algorithm !== 'sha256' || !isVersion(version) || !wellFormed) {
    throw new OncelyError(
      'invalid_fingerprint',
      'the fingerprint must be what fingerprint(value, { version }) returned',
    )
  }
  return { algorithm, version, digest }
}

/** A fingerprint as a record keeps it, perhaps of an algorithm that only newer code knows. */
export interface StoredFingerprint {
  readonly algorithm: string
  readonly version: number
  readonly digest: string
}

/** Whether two fingerprints are of the same parameters under the same rule. */
export function sameFingerprint(stored: StoredFingerprint, given: Fingerprint): boolean {
  return (
    stored.digest === given.digest &&
    stored.version === given.version &&
    stored.algorithm === given.algorithm
  )
}

function isVersion(version: unknown): version is number {
  return Number.isInteger(version) && Number(version) >= 1 && Number(version) <= MAX_VERSION
}
