import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency, fingerprint } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { Pool } from 'pg'

type Order = { id: string; sku: string; cents: number }
export type Database = { orders: Order }

const pool = guardPool(new Pool({ connectionString: process.env['DATABASE_URL'] }))
const dialect = oncelyDialect(new PostgresDialect({ pool }))
export const db = new Kysely<Database>({ dialect })
const idempotency = createIdempotency(db)

export function createOrder(tenant: string, actor: string, key: string, order: Order) {
  const scope = { tenant, actor, operation: 'orders.create' }
  const decisive = fingerprint(order, { version: 1 })
  return idempotency.withIdempotency(scope, key, decisive, async (tx, { emit }) => {
    await tx.insertInto('orders').values(order).execute()
    emit({ type: 'order.created', aggregateType: 'order', aggregateId: order.id, payload: order })
    return { orderId: order.id, at: new Date() } // a string for everybody: it is stored as JSON
  })
}
