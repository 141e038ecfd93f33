import { sql } from 'kysely'

/** What makes a tombstone of a record: the response goes, key, fingerprint and resource stay. */
export const tombstone = {
  state: 'expired',
  response: null,
  response_status: null,
  response_headers: null,
  expired_at: sql<Date>`clock_timestamp()`,
} as const
