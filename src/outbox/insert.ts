import { sql } from 'kysely'

import type { TableBuilder, ValueOf } from '../postgres/statement.ts'
import type { OutboxEvent } from './event.ts'

const columns = [
  'tenant',
  'id',
  'type',
  'aggregatetype',
  'aggregateid',
  'payload',
  'sequence',
  'headers',
] as const

type Tables = Pick<TableBuilder, 'insertInto'>

/** Writes an event for the row of `stored`, a part of the same statement that has a tenant. */
export function insertEvent(tables: Tables, value: ValueOf<OutboxEvent>) {
  // Cast as the parameters of a claim are: the columns are of domains.
  return tables
    .insertInto('outbox')
    .columns([...columns])
    .expression(
      sql`select stored.tenant, ${value('id')}::uuid, ${value('type')}::text,
        ${value('aggregateType')}::text, ${value('aggregateId')}::text,
        ${value('payload')}::text::json, ${value('sequence')}::bigint, ${value('headers')}::text::json
        from stored`,
    )
}

/** One array a column, so that the statement is the same however many events there are. */
export type EventColumns = {
  readonly [Column in keyof OutboxEvent]: readonly OutboxEvent[Column][]
}

export function columnsOf(events: readonly OutboxEvent[]): EventColumns {
  return {
    id: events.map(({ id }) => id),
    type: events.map(({ type }) => type),
    aggregateType: events.map(({ aggregateType }) => aggregateType),
    aggregateId: events.map(({ aggregateId }) => aggregateId),
    payload: events.map(({ payload }) => payload),
    sequence: events.map(({ sequence }) => sequence),
    headers: events.map(({ headers }) => headers),
  }
}

/**
 * The same for any number of them, which keep their order. A single one has no need of arrays and of
 * their sorting.
 */
export function insertEvents(tables: Tables, value: ValueOf<EventColumns>) {
  return tables
    .insertInto('outbox')
    .columns([...columns])
    .expression(
      sql`select stored.tenant, event.id, event.type, event.aggregatetype, event.aggregateid,
        event.payload::json, event.sequence, event.headers::json
        from stored, unnest(
          ${value('id')}::uuid[],
          ${value('type')}::text[],
          ${value('aggregateType')}::text[],
          ${value('aggregateId')}::text[],
          ${value('payload')}::text[],
          ${value('sequence')}::bigint[],
          ${value('headers')}::text[]
        ) with ordinality
          as event(id, type, aggregatetype, aggregateid, payload, sequence, headers, place)
        order by event.place`,
    )
}
