import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { identityColumns } from './identity.ts'
import { tombstone } from './tombstone.ts'

/**
 * Turns the records that have been past their replay window for longest into tombstones, passing
 * over those that somebody holds. The lock is the one that the update takes, which lets a foreign
 * key of the host's be checked meanwhile.
 *
 * @returns how many; fewer than `batchSize` when no more are due and free.
 */
export async function sweepRecords(own: OwnTables, batchSize: number): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      // Materialized: a nested loop runs a subquery again for each row, and 2,000 went instead of 100.
      .with(
        (cte) => cte('due').materialized(),
        (db) =>
          db
            .selectFrom('records')
            .select([...identityColumns])
            // Not clock_timestamp(), by which no index can be searched.
            .where('replay_until', '<=', sql<Date>`statement_timestamp()`)
            .where('expired_at', 'is', null)
            .where('state', 'in', ['completed', 'rejected'])
            .orderBy('replay_until')
            .limit(batchSize)
            .forNoKeyUpdate()
            .skipLocked(),
      )
      .updateTable('records')
      .from('due')
      .set(tombstone)
      .whereRef('records.tenant', '=', 'due.tenant')
      .whereRef('records.actor', '=', 'due.actor')
      .whereRef('records.operation', '=', 'due.operation')
      .whereRef('records.key', '=', 'due.key'),
  )
  return Number(numAffectedRows)
}
