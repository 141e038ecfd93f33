import { fingerprint } from 'oncely'

/** What the callers' parameters come to. */
export const prints = {
  one: fingerprint({ amount: 1 }, { version: 1 }),
  other: fingerprint({ amount: 2 }, { version: 1 }),
} as const

export type PrintName = keyof typeof prints

export function printOf(digest: string): PrintName | 'unknown' {
  if (digest === prints.one.digest) return 'one'
  return digest === prints.other.digest ? 'other' : 'unknown'
}
