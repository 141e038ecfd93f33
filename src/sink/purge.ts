import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'

/**
 * Deletes what a consumer has applied longest ago, and longer than that. Sequences stay, so that an older event of
 * an aggregate is stale for ever.
 *
 * @returns how many; fewer than `batchSize` when no more are due and free.
 */
export async function purgeApplied(
  own: OwnTables,
  { consumer, retentionMs }: { readonly consumer: string; readonly retentionMs: number },
  batchSize: number,
): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      // Materialized, as otherwise the limit would not be kept under a nested loop.
      .with(
        (cte) => cte('due').materialized(),
        (db) =>
          db
            .selectFrom('sink')
            .select(['consumer', 'event_id'])
            .where(sql<boolean>`consumer = ${consumer}::text`)
            .where(
              'applied_at',
              '<=',
              sql<Date>`statement_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'`,
            )
            .orderBy('applied_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked(),
      )
      .deleteFrom('sink')
      .using('due')
      .whereRef('sink.consumer', '=', 'due.consumer')
      .whereRef('sink.event_id', '=', 'due.event_id'),
  )
  return Number(numAffectedRows)
}
