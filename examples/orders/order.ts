import type { Transaction } from 'kysely'
import { fingerprint, type CallContext, type Fingerprint } from 'oncely'
import { z } from 'zod'

import type { Orders } from '../../codegen/db.ts'

/** The host's tables, as far as orders are concerned. */
export interface OrdersDatabase {
  orders: Orders
}

/** ISO 4217, as this runtime knows it. */
const currencies = new Set(Intl.supportedValuesOf('currency'))

/** What a caller of the library sends. Defaults are filled in here, before the fingerprint is taken. */
export const orderSchema = z.object({
  orderNumber: z.string().regex(/^[A-Z0-9-]{1,100}$/),
  sku: z.string().min(1).max(100),
  quantity: z.int().min(1).max(10_000).default(1),
  /** In the minor unit of the currency, such as cents: money is never a fraction. */
  amountMinor: z.int().min(0),
  currency: z
    .string()
    .toUpperCase()
    .refine((code) => currencies.has(code), 'not an ISO 4217 currency code')
    .default('EUR'),
})

export type OrderInput = z.input<typeof orderSchema>
export type Order = z.output<typeof orderSchema>

/**
 * Validates and fills in the defaults.
 *
 * @throws z.ZodError
 */
export function parseOrder(input: OrderInput): Order {
  return orderSchema.parse(input)
}

/** Everything in an order decides what becomes of it. */
export function orderFingerprint(order: Order): Fingerprint {
  return fingerprint(order, { version: 1 })
}

/** Writes the order and tells the world, in the transaction of the claim. */
export async function writeOrder(
  tx: Transaction<OrdersDatabase>,
  context: Pick<CallContext, 'scope' | 'key' | 'emit' | 'resource'>,
  order: Order,
) {
  const placed = await tx
    .insertInto('orders')
    .values({
      tenant: context.scope.tenant,
      actor: context.scope.actor,
      operation: context.scope.operation,
      idempotency_key: context.key,
      order_number: order.orderNumber,
      sku: order.sku,
      quantity: order.quantity,
      amount_minor: order.amountMinor,
      currency: order.currency,
      status: 'placed',
    })
    .returning(['order_number', 'version', 'created_at'])
    .executeTakeFirstOrThrow()
  context.resource({ type: 'order', id: placed.order_number })
  context.emit({
    type: 'order.created',
    aggregateType: 'order',
    aggregateId: placed.order_number,
    sequence: placed.version,
    payload: order,
  })
  return { orderNumber: placed.order_number, placedAt: placed.created_at }
}
