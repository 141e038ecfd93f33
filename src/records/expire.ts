import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { identityOf, type RecordIdentity } from './identity.ts'

/** What makes a tombstone of a record. */
export const tombstone = {
  state: 'expired',
  response: null,
  response_status: null,
  response_headers: null,
  expired_at: sql<Date>`clock_timestamp()`,
} as const

/**
 * Turns a record into a tombstone: the response goes, key, fingerprint and resource stay. Waits for
 * a replay that holds the record.
 *
 * @returns whether there was a response to clear.
 */
export async function expireRecord(own: OwnTables, identity: RecordIdentity): Promise<boolean> {
  const { numAffectedRows } = await own.run(
    own.tables
      .updateTable('records')
      .set(tombstone)
      .where((eb) => eb.and(identityOf(identity)))
      .where('state', 'in', ['completed', 'rejected']),
  )
  return numAffectedRows === 1n
}
