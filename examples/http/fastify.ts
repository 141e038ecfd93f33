import fastify, { type FastifyRequest } from 'fastify'
import { idempotent } from 'oncely/fastify'

import { callerOf, idempotency } from './idempotency.ts'

const principal = ({ headers }: FastifyRequest) => callerOf(headers['x-user-id']?.toString())
const once = idempotent(idempotency, { operation: 'orders.create', principal })

export const app = fastify()
app.post<{ Body: { sku: string } }>('/orders', { preHandler: once }, async (request, reply) => {
  const { tx, context } = once.of(request)
  const order = { id: context.childKey('order'), sku: request.body.sku, cents: 1999 }
  await tx.insertInto('orders').values(order).execute()
  return reply.code(201).send(order)
})
