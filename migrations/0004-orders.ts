import { type Kysely, sql } from 'kysely'

import { textDomain } from './domain.ts'
import type { TableMigration } from './table-migration.ts'

/**
 * The reference business, a set of its own that a host does not get unasked. Its second unique
 * constraint is the last line of defence: should the record be lost, the order is still placed once.
 */
export function orders(schema: string): TableMigration {
  const table = sql.id(schema, 'orders')
  const text = textDomain(schema, 'orders_text')

  return {
    tables: ['orders'],

    async up(db: Kysely<unknown>) {
      await text.create(db)
      await sql`
        create table ${table} (
          tenant ${text.type} not null,
          order_number text collate "C" not null check (octet_length(order_number) between 1 and 100),
          actor ${text.type} not null,
          operation ${text.type} not null,
          idempotency_key text collate "C" not null check (octet_length(idempotency_key) between 1 and 255),
          sku ${text.type} not null,
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
      await text.drop(db)
    },
  }
}
