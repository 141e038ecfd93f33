import { checkMs, checkNames, checkWhole, invalid } from '../checks.ts'
import type { Fetch } from './fetch.ts'
import type { Journal } from './journal.ts'

/** How requests are sent again. */
export interface IdempotentFetchOptions {
  /**
   * What sends a request: any `fetch`, or one around it that adds a token. It is given an absolute URL, and what it
   * makes of that is read to its end.
   *
   * @defaultValue the global `fetch`.
   */
  readonly fetch?: Fetch | undefined
  /**
   * How the header `Idempotency-Key` is written: `'quoted'` as draft-ietf-httpapi-idempotency-key-header-07 has
   * it, or `'bare'` for servers that take the quotes for a part of the key.
   *
   * @defaultValue `'quoted'`
   */
  readonly keyFormat?: 'quoted' | 'bare' | undefined
  /**
   * How often a call sends a request, from 1 to 100. Those that are answered by 409, because the first is under
   * way, are not counted: they are bounded by the deadline.
   *
   * @defaultValue 5
   */
  readonly maxAttempts?: number | undefined
  /**
   * How long a call may take with all of its attempts, in milliseconds, from 1 to 2,147,483,647.
   *
   * @defaultValue 60,000
   */
  readonly deadlineMs?: number | undefined
  /**
   * How long one attempt may take to its last octet, in milliseconds, from 1 to 2,147,483,647.
   *
   * @defaultValue 15,000
   */
  readonly attemptTimeoutMs?: number | undefined
  /**
   * The longest pause before the second attempt, in milliseconds, from 0 to 2,147,483,647. It doubles with each
   * one, and is a random part of that. `Retry-After` makes it no shorter than it says, and longer by up to a quarter
   * of that, or a second. Behind a 409 under way it is 10 at least.
   *
   * @defaultValue 250
   */
  readonly initialDelayMs?: number | undefined
  /**
   * The longest pause of all, in milliseconds, from 0 to 2,147,483,647; but for `Retry-After`.
   *
   * @defaultValue 10,000
   */
  readonly maxDelayMs?: number | undefined
  /**
   * For how long the server knows a key, in milliseconds, from 1 to 31,536,000,000 (a year), where it has not
   * announced it for that path by `Idempotency-Key-Retention`. What may have taken effect is not sent again later than
   * that: it could take effect once more.
   *
   * @defaultValue 86,400,000 (a day)
   */
  readonly retentionMs?: number | undefined
  /**
   * Where intents are kept that have no final answer yet.
   *
   * @defaultValue nowhere.
   */
  readonly journal?: Journal | undefined
}

/** With every default filled in. */
export type ResolvedOptions = {
  readonly [Name in Exclude<keyof IdempotentFetchOptions, 'journal'>]-?: NonNullable<
    IdempotentFetchOptions[Name]
  >
} & Pick<IdempotentFetchOptions, 'journal'>

const MAX_MS = 2_147_483_647
const YEAR_MS = 31_536_000_000

const defaults = {
  // Looked up when it is called: somebody may put another one there.
  fetch: ((url, init) => globalThis.fetch(url, init)) as Fetch,
  keyFormat: 'quoted',
  maxAttempts: 5,
  deadlineMs: 60_000,
  attemptTimeoutMs: 15_000,
  initialDelayMs: 250,
  maxDelayMs: 10_000,
  retentionMs: 86_400_000,
} as const

/** @throws OncelyError `invalid_options`. */
export function resolveOptions(given: IdempotentFetchOptions): ResolvedOptions {
  checkNames(given, [...Object.keys(defaults), 'journal'])
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const options = { ...defaults, ...Object.fromEntries(set) } as ResolvedOptions
  if (typeof options.fetch !== 'function') throw invalid('fetch must be a function')
  if (!['quoted', 'bare'].includes(options.keyFormat)) {
    throw invalid("keyFormat must be 'quoted' or 'bare'")
  }
  checkWhole('maxAttempts', options.maxAttempts, 1, 100)
  for (const name of ['deadlineMs', 'attemptTimeoutMs'] as const) {
    checkMs(name, options[name], MAX_MS)
  }
  for (const name of ['initialDelayMs', 'maxDelayMs'] as const)
    checkMs(name, options[name], MAX_MS, 0)
  checkMs('retentionMs', options.retentionMs, YEAR_MS)
  const { begin, end } = Object(options.journal) as Partial<Journal>
  if (options.journal !== undefined && (typeof begin !== 'function' || typeof end !== 'function')) {
    throw invalid('journal must have the functions begin and end')
  }
  return Object.freeze(options)
}
