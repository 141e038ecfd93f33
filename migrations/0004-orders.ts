import { type Kysely, sql } from 'kysely'

import type { TableMigration } from './table-migration.ts'
import { text200 } from './text.ts'

/**
 * The reference business, a set of its own that a host does not get unasked. Its second unique
 * constraint is the last line of defence: should the record be lost, the order is still placed once.
 */
export function orders(schema: string): TableMigration {
  const table = sql.id(schema, 'orders')

  return {
    tables: ['orders'],

    async up(db: Kysely<unknown>) {
      await sql`
        create table ${table} (
          ${text200('tenant')},
          order_number text collate "C" not null check (octet_length(order_number) between 1 and 100),
          ${text200('actor')},
          ${text200('operation')},
          idempotency_key text collate "C" not null check (octet_length(idempotency_key) between 1 and 255),
          ${text200('sku')},
          quantity integer not null check (quantity > 0),
          amount_minor bigint not null check (amount_minor >= 0),
          currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
          status text collate "C" not null check (status in ('placed', 'paid', 'cancelled')),
          version integer not null default 1 check (version >= 1),
          created_at timestamptz not null default statement_timestamp(),
          constraint orders_pkey primary key (tenant, order_number),
          constraint orders_idempotency_key unique (tenant, actor, operation, idempotency_key)
        )`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${table}`.execute(db)
    },
  }
}
