import { type Kysely, sql } from 'kysely'

import { domain, textDomain } from './domain.ts'
import type { TableMigration } from './table-migration.ts'

/**
 * Events committed with the write. The columns that describe the event are named as Debezium's
 * outbox event router expects them; those behind `created_at` belong to the relay.
 */
export function outbox(schema: string): TableMigration {
  const table = sql.id(schema, 'outbox')
  const text = textDomain(schema, 'outbox_text')
  const sequence = domain(schema, 'outbox_sequence', 'bigint', 'value >= 0')
  const attempts = domain(schema, 'outbox_attempts', 'integer', 'value >= 0')
  const domains = [text, sequence, attempts]

  return {
    tables: ['outbox'],

    async up(db: Kysely<unknown>) {
      for (const { create } of domains) await create(db)
      // json and not jsonb: what is published must be what was written, to the byte. What was published is
      // published, also where it had been given up before: a CHECK between the two would be read and planned
      // anew with every event.
      await sql`
        create table ${table} (
          position bigint generated always as identity,
          id uuid not null,
          tenant ${text.type} not null,
          aggregatetype ${text.type} not null,
          aggregateid ${text.type} not null,
          type ${text.type} not null,
          payload json not null,
          sequence ${sequence.type},
          headers json not null,
          created_at timestamptz not null default statement_timestamp(),
          attempts ${attempts.type} not null default 0,
          next_attempt_at timestamptz,
          leased_until timestamptz,
          fence bigint not null default 0,
          last_error text,
          published_at timestamptz,
          dead_at timestamptz,
          constraint outbox_pkey primary key (id)
        )`.execute(db)

      await sql`
        create index outbox_pending_idx on ${table} (position)
        where published_at is null and dead_at is null`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${table}`.execute(db)
      for (const { drop } of domains) await drop(db)
    },
  }
}
