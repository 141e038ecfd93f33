import type { OwnTables } from '../postgres/enter.ts'
import { identityOf, type RecordIdentity } from './identity.ts'
import { tombstone } from './tombstone.ts'

/**
 * Turns a record into a tombstone. Waits for a replay that holds the record.
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
