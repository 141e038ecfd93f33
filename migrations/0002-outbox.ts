import { type Kysely, sql } from 'kysely'

import type { TableMigration } from './table-migration.ts'
import { text200 } from './text.ts'

/**
 * Events committed with the write. The columns that describe the event are named as Debezium's
 * outbox event router expects them; those behind `created_at` belong to the relay.
 */
export function outbox(schema: string): TableMigration {
  const table = sql.id(schema, 'outbox')

  return {
    tables: ['outbox'],

    async up(db: Kysely<unknown>) {
      // json and not jsonb: what is published must be what was written, to the byte.
      await sql`
        create table ${table} (
          position bigint generated always as identity,
          id uuid not null,
          ${text200('tenant')},
          ${text200('aggregatetype')},
          ${text200('aggregateid')},
          ${text200('type')},
          payload json not null,
          sequence bigint check (sequence >= 0),
          headers json not null,
          created_at timestamptz not null default statement_timestamp(),
          attempts integer not null default 0 check (attempts >= 0),
          next_attempt_at timestamptz,
          leased_until timestamptz,
          fence bigint not null default 0,
          last_error text,
          published_at timestamptz,
          dead_at timestamptz,
          constraint outbox_pkey primary key (id),
          constraint outbox_end_check check (published_at is null or dead_at is null)
        )`.execute(db)

      await sql`
        create index outbox_pending_idx on ${table} (position)
        where published_at is null and dead_at is null`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${table}`.execute(db)
    },
  }
}
