import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { tombstone } from './expire.ts'

/** Whose records. */
export interface Erasure {
  /** As in their scope. */
  readonly tenant: string
  /** As in their scope; everybody's of the tenant unless given. */
  readonly actor?: string
}

/**
 * Clears up to so many records of one person: response and resource go, key and fingerprint stay.
 *
 * @returns how many; fewer than the batch when there are no more.
 */
export async function eraseBatch(
  own: OwnTables,
  { tenant, actor }: Erasure,
  batchSize: number,
): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      .with(
        // Evaluated once: a subquery could be run again for each row, past its limit.
        (cte) => cte('batch').materialized(),
        (db) =>
          db
            .selectFrom('records')
            .select(['tenant', 'actor', 'operation', 'key'])
            .where('tenant', '=', tenant)
            .$if(actor !== undefined, (query) => query.where('actor', '=', String(actor)))
            .where((eb) =>
              eb.or([eb('response', 'is not', null), eb('resource_type', 'is not', null)]),
            )
            .orderBy('tenant')
            .orderBy('actor')
            .orderBy('operation')
            .orderBy('key')
            .limit(batchSize)
            .forNoKeyUpdate(),
      )
      .updateTable('records')
      .from('batch')
      .set({
        ...tombstone,
        expired_at: sql`coalesce(records.expired_at, clock_timestamp())`,
        resource_type: null,
        resource_id: null,
      })
      .whereRef('records.tenant', '=', 'batch.tenant')
      .whereRef('records.actor', '=', 'batch.actor')
      .whereRef('records.operation', '=', 'batch.operation')
      .whereRef('records.key', '=', 'batch.key'),
  )
  return Number(numAffectedRows)
}
