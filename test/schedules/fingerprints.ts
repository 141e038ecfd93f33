import { fingerprint } from 'oncely'

/** What the callers' parameters come to. */
export const fingerprints = {
  one: fingerprint({ amount: 1 }, { version: 1 }),
  other: fingerprint({ amount: 2 }, { version: 1 }),
} as const

export type FingerprintName = keyof typeof fingerprints

export function fingerprintOf(digest: string): FingerprintName | 'unknown' {
  if (digest === fingerprints.one.digest) return 'one'
  return digest === fingerprints.other.digest ? 'other' : 'unknown'
}
