import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { type CheckOptions, checkUnderFaults } from 'oncely/testing'
import { Pool } from 'pg'

import type { OrdersDatabase } from './order.ts'
import { placeOrder } from './place-order.ts'

/** Places an order under each fault that its connection can have. */
export async function provePlaceOrder(url: string, options?: CheckOptions) {
  const direct = connect(url)
  try {
    return await checkUnderFaults(placing(url, direct), options)
  } finally {
    await direct.destroy()
  }
}

const placing = (url: string, direct: Kysely<OrdersDatabase>) => ({
  url,
  open(proxied: string) {
    const db = connect(proxied)
    const idempotency = createIdempotency(db, hasty)
    return {
      call: (key: string) => placeOrder(idempotency, alice, key, tea(key)),
      close: () => db.destroy(),
    }
  },
  async effects(key: string) {
    const placed = direct.selectFrom('orders').where('idempotency_key', '=', key)
    return (await placed.select('order_number').execute()).length
  },
})

const alice = { tenant: 'acme', actor: 'alice' }
const tea = (key: string) => ({ orderNumber: key.toUpperCase(), sku: 'TEA', amountMinor: 1_999 })
/** So that a link which says nothing any more is not waited for as long as in production. */
const hasty = { resolveTimeoutMs: 1_000, idleInTransactionTimeoutMs: 500 }

function connect(url: string) {
  const pool = guardPool(new Pool({ connectionString: url, max: 4 }))
  const dialect = oncelyDialect(new PostgresDialect({ pool }))
  return new Kysely<OrdersDatabase>({ dialect }).withSchema('idem')
}
