export {
  createIdempotentFetch,
  type IdempotentFetch,
  type Intent,
} from './client/idempotent-fetch.ts'
export type { IdempotentOutcome } from './client/outcome.ts'
export type { KeptIntent } from './client/kept.ts'
export { IdempotentFetchError, type IdempotentFetchErrorCode } from './client/errors.ts'
export { isOncelyError, OncelyError, type OncelyErrorCode } from './errors.ts'
export type { IdempotentFetchOptions } from './client/options.ts'
export type { Fetch, FetchInit, HeadersLike, ResponseLike } from './client/fetch.ts'
export type { Journal, JournalEntry } from './client/journal.ts'
