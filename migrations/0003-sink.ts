import { type Kysely, sql } from 'kysely'

import type { TableMigration } from './table-migration.ts'
import { text200 } from './text.ts'

/** What a receiver has applied: one row an event, and the last sequence of each aggregate. */
export function sink(schema: string): TableMigration {
  const table = sql.id(schema, 'sink')
  const sequences = sql.id(schema, 'sink_sequences')

  return {
    tables: ['sink', 'sink_sequences'],

    async up(db: Kysely<unknown>) {
      // An event id is text: events also come from senders that do not use UUIDs.
      await sql`
        create table ${table} (
          consumer text collate "C" not null check (octet_length(consumer) between 1 and 200),
          event_id text collate "C" not null check (octet_length(event_id) between 1 and 255),
          applied_at timestamptz not null default statement_timestamp(),
          constraint sink_pkey primary key (consumer, event_id)
        )`.execute(db)

      await sql`
        create table ${sequences} (
          consumer text collate "C" not null check (octet_length(consumer) between 1 and 200),
          ${text200('tenant')},
          ${text200('aggregatetype')},
          ${text200('aggregateid')},
          sequence bigint not null check (sequence >= 0),
          constraint sink_sequences_pkey primary key (consumer, tenant, aggregatetype, aggregateid)
        )`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${sequences}`.execute(db)
      await sql`drop table ${table}`.execute(db)
    },
  }
}
