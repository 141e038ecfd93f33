import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The reference business, a set of its own that a host does not get unasked. Its second unique
 * constraint is the last line of defence: should the record be lost, the order is still placed once.
 */
export function orders(schema: string): Migration {
  const table = sql.id(schema, 'orders')

  return {
    async up(db: Kysely<unknown>) {
      await sql`
        create table ${table} (
          tenant text collate "C" not null,
          order_number text collate "C" not null check (octet_length(order_number) between 1 and 100),
          actor text collate "C" not null,
          operation text collate "C" not null,
          idempotency_key text collate "C" not null,
          sku text not null,
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
