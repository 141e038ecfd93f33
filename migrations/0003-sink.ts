import { type Kysely, sql } from 'kysely'

import { domain, OCTETS, textDomain } from './domain.ts'
import type { TableMigration } from './table-migration.ts'

/** What a receiver has applied: one row an event, and the last sequence of each aggregate. */
export function sink(schema: string): TableMigration {
  const table = sql.id(schema, 'sink')
  const sequences = sql.id(schema, 'sink_sequences')
  const consumer = domain(schema, 'sink_consumer', OCTETS, 'octet_length(value) between 1 and 200')
  const eventId = domain(schema, 'sink_event_id', OCTETS, 'octet_length(value) between 1 and 255')
  const text = textDomain(schema, 'sink_text')
  const sequence = domain(schema, 'sink_sequence', 'bigint', 'value >= 0')
  const domains = [consumer, eventId, text, sequence]

  return {
    tables: ['sink', 'sink_sequences'],

    async up(db: Kysely<unknown>) {
      for (const { create } of domains) await create(db)
      // An event id is text: events also come from senders that do not use UUIDs.
      await sql`
        create table ${table} (
          consumer ${consumer.type} not null,
          event_id ${eventId.type} not null,
          applied_at timestamptz not null default statement_timestamp(),
          constraint sink_pkey primary key (consumer, event_id)
        )`.execute(db)

      // For `purge` alone.
      await sql`create index sink_applied_idx on ${table} (consumer, applied_at)`.execute(db)

      await sql`
        create table ${sequences} (
          consumer ${consumer.type} not null,
          tenant ${text.type} not null,
          aggregatetype ${text.type} not null,
          aggregateid ${text.type} not null,
          sequence ${sequence.type} not null,
          constraint sink_sequences_pkey primary key (consumer, tenant, aggregatetype, aggregateid)
        )`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${sequences}`.execute(db)
      await sql`drop table ${table}`.execute(db)
      for (const { drop } of domains) await drop(db)
    },
  }
}
