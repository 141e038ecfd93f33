import type { Idempotency } from 'oncely'

import {
  type OrderInput,
  type OrdersDatabase,
  orderFingerprint,
  parseOrder,
  writeOrder,
} from './order.ts'

/** Who places an order, by authentication. */
export interface Caller {
  readonly tenant: string
  readonly actor: string
}

/**
 * Places an order once, however often the caller sends it with the same key.
 *
 * @throws z.ZodError for an order that is not valid, before anything is written.
 */
export async function placeOrder(
  idempotency: Idempotency<OrdersDatabase>,
  caller: Caller,
  key: string,
  input: OrderInput,
) {
  const order = parseOrder(input)
  return idempotency.withIdempotency(
    { ...caller, operation: 'orders.create' },
    key,
    orderFingerprint(order),
    (tx, context) => writeOrder(tx, context, order),
  )
}
