import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { identityColumns } from './identity.ts'

/**
 * Deletes the tombstones that expired longest ago, and longer than the window; their keys open
 * again. Passes over those that somebody holds, such as by a foreign key of the host's.
 *
 * @returns how many; fewer than `batchSize` when no more are due and free.
 */
export async function purgeTombstones(
  own: OwnTables,
  tombstoneWindowMs: number,
  batchSize: number,
): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      // Materialized, as for the sweep.
      .with(
        (cte) => cte('due').materialized(),
        (db) =>
          db
            .selectFrom('records')
            .select([...identityColumns])
            .where(
              'expired_at',
              '<=',
              sql<Date>`statement_timestamp() - ${tombstoneWindowMs}::float8 * interval '1 millisecond'`,
            )
            .where('state', '=', 'expired')
            .orderBy('expired_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked(),
      )
      .deleteFrom('records')
      .using('due')
      .whereRef('records.tenant', '=', 'due.tenant')
      .whereRef('records.actor', '=', 'due.actor')
      .whereRef('records.operation', '=', 'due.operation')
      .whereRef('records.key', '=', 'due.key'),
  )
  return Number(numAffectedRows)
}
