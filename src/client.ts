export {
  createIdempotentFetch,
  type IdempotentFetch,
  type IdempotentOutcome,
  type Intent,
  type KeptIntent,
} from './client/idempotent-fetch.ts'
export { IdempotentFetchError, type IdempotentFetchErrorCode } from './client/errors.ts'
export type { Fetch, IdempotentFetchOptions } from './client/options.ts'
export type { Journal, JournalEntry } from './client/journal.ts'
