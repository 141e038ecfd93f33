import { sql } from 'kysely'

import type { OutboxEvent } from '../outbox/event.ts'
import type { OwnTables } from '../postgres/enter.ts'
import type { Resource } from '../result.ts'
import { identityOf, type RecordIdentity } from './identity.ts'

/** The outcome of the attempt that holds the claim. */
export interface Completion extends RecordIdentity {
  readonly attempt: string
  readonly state: 'completed' | 'rejected'
  readonly response: Buffer
  /** False when a replay makes its answer anew. */
  readonly responseStored?: boolean
  readonly resource?: Resource | undefined
  /** In the order they are to be published. */
  readonly events: readonly OutboxEvent[]
}

/**
 * Writes the response, and the events behind it in the same statement: where the claim is gone,
 * because the business function ended the transaction itself, no event is written either.
 *
 * @returns whether the claim was still there.
 */
export async function complete(own: OwnTables, completion: Completion): Promise<boolean> {
  const { events } = completion
  const store = own.tables
    .updateTable('records')
    .set({
      state: completion.state,
      response: completion.response,
      response_stored: completion.responseStored ?? true,
      resource_type: completion.resource?.type ?? null,
      resource_id: completion.resource?.id ?? null,
      completed_at: sql`clock_timestamp()`,
    })
    .where((eb) =>
      eb.and({ ...identityOf(completion), attempt: completion.attempt, state: 'claimed' }),
    )
  if (events.length === 0) return (await own.run(store)).numAffectedRows === 1n

  const { numAffectedRows } = await own.run(
    own.tables
      .with('stored', () => store.returning('tenant'))
      .insertInto('outbox')
      .columns([
        'tenant',
        'id',
        'type',
        'aggregatetype',
        'aggregateid',
        'payload',
        'sequence',
        'headers',
      ])
      .expression((eb) =>
        eb
          .selectFrom(['stored', eventRows(events)])
          .select(['stored.tenant', 'event.id', 'event.type', 'event.aggregatetype'])
          .select(['event.aggregateid', sql<string>`event.payload::json`.as('payload')])
          .select(['event.sequence', sql<string>`event.headers::json`.as('headers')])
          .orderBy('event.place'),
      ),
  )
  return numAffectedRows === BigInt(events.length)
}

interface EventRow {
  id: string
  type: string
  aggregatetype: string
  aggregateid: string
  payload: string
  sequence: string | null
  headers: string
  place: number
}

/** One array a column, so that the statement is the same however many events there are. */
function eventRows(events: readonly OutboxEvent[]) {
  const column = <Name extends keyof OutboxEvent>(name: Name) => events.map((event) => event[name])
  return sql<EventRow>`unnest(
      ${column('id')}::uuid[],
      ${column('type')}::text[],
      ${column('aggregateType')}::text[],
      ${column('aggregateId')}::text[],
      ${column('payload')}::text[],
      ${column('sequence')}::bigint[],
      ${column('headers')}::text[]
    ) with ordinality`.as<'event'>(
    sql`event(id, type, aggregatetype, aggregateid, payload, sequence, headers, place)`,
  )
}
