import { createHmac, hash } from 'node:crypto'

import stringify from 'fast-json-stable-stringify'

import { OncelyError } from '../errors.ts'
import { toJsonValue } from '../json-value.ts'

/** Digest of the parameters that decide a business result. Made by `fingerprint`. */
export interface Fingerprint {
  /** How the digest was made; `hmac-sha256` with a `secret`. */
  readonly algorithm: 'sha256' | 'hmac-sha256'
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
  /**
   * Makes the digest keyed (HMAC-SHA-256, RFC 2104), for parameters that somebody who sees the table
   * could guess, such as a card or a person's data: 16 octets or more, of a text those of its UTF-8.
   * A replay needs the same secret: while one replaces another, give both fingerprints to the call.
   *
   * @defaultValue none: SHA-256. Given as undefined, as from a variable that is not set, it is refused.
   */
  readonly secret?: string | Uint8Array
}

/** One fingerprint, or several under which a record is accepted, the one to be stored first. */
export type Fingerprints = Fingerprint | readonly [Fingerprint, ...Fingerprint[]]

/** What RFC 2104 asks of a key is as many octets as the digest; half of that is beyond guessing. */
const MIN_SECRET_OCTETS = 16

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
  const { version, secret, ...others } = Object(options) as Record<string, unknown>
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
  const text = stringify(toJsonValue(value, 'parameters'))
  if (!Object.hasOwn(Object(options) as object, 'secret')) {
    return Object.freeze({ algorithm: 'sha256', version, digest: hash('sha256', text) })
  }
  const digest = createHmac('sha256', checkSecret(secret)).update(text).digest('hex')
  return Object.freeze({ algorithm: 'hmac-sha256', version, digest })
}

function checkSecret(secret: unknown): Uint8Array {
  const octets = typeof secret === 'string' ? Buffer.from(secret) : secret
  if (octets instanceof Uint8Array && octets.length >= MIN_SECRET_OCTETS) return octets
  throw new OncelyError(
    'invalid_fingerprint',
    `the secret of a fingerprint must be a text or bytes of at least ${MIN_SECRET_OCTETS} octets`,
  )
}

/**
 * Checks what a caller passes as a fingerprint, or as several.
 *
 * @throws OncelyError `invalid_fingerprint`.
 */
export function checkFingerprints(given: Fingerprints): readonly [Fingerprint, ...Fingerprint[]] {
  const several: readonly unknown[] = Array.isArray(given) ? given : [given]
  const [first, ...others] = several.map(checkFingerprint)
  if (first === undefined) throw malformed()
  return [first, ...others]
}

function checkFingerprint(given: unknown): Fingerprint {
  const { algorithm, version, digest } = Object(given) as Record<keyof Fingerprint, unknown>
  const wellFormed = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest)
  const known = algorithm === 'sha256' || algorithm === 'hmac-sha256'
  if (!known || !isVersion(version) || !wellFormed) throw malformed()
  return { algorithm, version, digest }
}

function malformed(): OncelyError {
  return new OncelyError(
    'invalid_fingerprint',
    'the fingerprint must be what fingerprint(value, { version }) returned, or an array of such',
  )
}

/** A fingerprint as a record keeps it, perhaps of an algorithm that only newer code knows. */
export interface StoredFingerprint {
  readonly algorithm: string
  readonly version: number
  readonly digest: string
}

/** Whether a record is of the same parameters under a rule that the caller accepts. */
export function matches(stored: StoredFingerprint, accepted: readonly Fingerprint[]): boolean {
  return accepted.some(
    ({ digest, version, algorithm }) =>
      stored.digest === digest && stored.version === version && stored.algorithm === algorithm,
  )
}

function isVersion(version: unknown): version is number {
  return Number.isInteger(version) && Number(version) >= 1 && Number(version) <= MAX_VERSION
}
