import { createHash, randomInt, randomUUID } from 'node:crypto'

import type { Fingerprint, Scope } from '../src/index.ts'
import { otherPrint, print } from './business.ts'

/** One call as a client makes it. */
export interface Intent {
  readonly scope: Scope
  readonly key: string
  readonly print: Fingerprint
}

/** A way of executing an intent once. It tells how the call ended. */
export type Variant = (intent: Intent) => Promise<string>

/** Which records there are, and how many: see `load`. */
export interface Loaded {
  readonly prefix: 'live' | 'past'
  readonly count: number
}

/** Records belong to many tenants and actors, as in a real table. */
function scopeOf(n: number): Scope {
  return { tenant: `t${n % 100}`, actor: `u${n % 1_000}`, operation: 'orders.create' }
}

/** An intent that nobody has had before. */
export function newIntent(): Intent {
  return { scope: scopeOf(randomInt(1_000_000)), key: randomUUID(), print }
}

/** The intent behind any of the loaded records; `load` makes the same keys in SQL. */
export function loadedIntent({ prefix, count }: Loaded): Intent {
  const n = 1 + randomInt(count)
  const key = createHash('md5').update(`${prefix}${n}`).digest('hex')
  return { scope: scopeOf(n), key, print }
}

/** The same with other parameters. */
export function conflicting(intent: Intent): Intent {
  return { ...intent, print: otherPrint }
}
