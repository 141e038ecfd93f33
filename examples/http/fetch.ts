import { idempotent } from 'oncely/http'

import { callerOf, idempotency } from './idempotency.ts'

const principal = ({ headers }: Request) => callerOf(headers.get('x-user-id'))
const once = idempotent(idempotency, { operation: 'orders.create', principal })

/** For `POST /orders` of any server, or framework, of web-standard Request and Response. */
export const createOrder = once(async (request) => {
  const { tx, context } = once.of(request)
  const { sku } = (await request.json()) as { sku: string }
  const order = { id: context.childKey('order'), sku, cents: 1999 }
  await tx.insertInto('orders').values(order).execute()
  return Response.json(order, { status: 201 })
})
