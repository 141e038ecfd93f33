import express, { type Request } from 'express'
import { idempotent } from 'oncely/express'

import { callerOf, idempotency } from './idempotency.ts'

const principal = (req: Request) => callerOf(req.get('x-user-id'))
const once = idempotent(idempotency, { operation: 'orders.create', principal })

export const app = express()
app.post('/orders', express.json(), once, async (req, res) => {
  const { tx, context } = once.of(req)
  const { sku } = req.body as { sku: string }
  const order = { id: context.childKey('order'), sku, cents: 1999 }
  await tx.insertInto('orders').values(order).execute()
  res.status(201).json(order)
})
