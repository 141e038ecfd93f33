import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'

/**
 * Notes that a consumer applies an event, waiting for another delivery of it that is under way.
 *
 * @returns false when the consumer has applied it before.
 */
export async function recordEvent(
  own: OwnTables,
  consumer: string,
  eventId: string,
): Promise<boolean> {
  const { numAffectedRows } = await own.run(
    own.tables
      .insertInto('sink')
      .values({
        // Cast, as a parameter would otherwise be of the column's domain.
        consumer: sql<string>`${consumer}::text`,
        event_id: sql<string>`${eventId}::text`,
      })
      .onConflict((conflict) => conflict.columns(['consumer', 'event_id']).doNothing()),
  )
  return numAffectedRows === 1n
}
