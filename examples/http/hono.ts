import { type Context, Hono } from 'hono'
import { idempotent } from 'oncely/hono'

import { callerOf, idempotency } from './idempotency.ts'

const principal = (c: Context) => callerOf(c.req.header('x-user-id'))
const once = idempotent(idempotency, { operation: 'orders.create', principal })

export const app = new Hono().post('/orders', once, async (c) => {
  const { tx, context } = once.of(c)
  const { sku } = await c.req.json<{ sku: string }>()
  const order = { id: context.childKey('order'), sku, cents: 1999 }
  await tx.insertInto('orders').values(order).execute()
  return c.json(order, 201)
})
