import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'
import { idempotent, type Principal } from 'oncely/fastify'

import { loseResponse } from './lose-response.ts'
import type { OrdersDatabase } from './order.ts'
import {
  callerOf,
  createOrder,
  findOrder,
  type NewOrder,
  newOrderFingerprint,
  newOrderSchema,
  ordersIdempotency,
} from './service.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the hooks in front have found out. */
    caller: Principal
    order: NewOrder
  }
}

/** The orders service on Fastify. */
export function ordersOnFastify(db: Kysely<OrdersDatabase>) {
  const app = fastify({ forceCloseConnections: true })
  const once = idempotent(ordersIdempotency(createIdempotency(db)), {
    operation: 'orders.create',
    principal: ({ caller }: FastifyRequest) => caller,
    fingerprint: ({ order }) => newOrderFingerprint(order),
  })

  app.get('/healthz', () => ({ ok: true }))

  void app.register(
    (orders, _options, done) => {
      orders.addHook('onRequest', async (request, reply) => {
        loseResponse(request.raw, reply.raw)
        const caller = callerOf(request.headers.authorization)
        if (caller) request.caller = caller
        else
          await reply
            .code(401)
            .header('www-authenticate', 'Bearer')
            .send({ code: 'unauthenticated' })
      })

      const validate = async (request: FastifyRequest, reply: FastifyReply) => {
        const parsed = newOrderSchema.safeParse(request.body)
        if (parsed.success) request.order = parsed.data
        else await reply.code(400).send({ code: 'invalid', issues: parsed.error.issues })
      }

      orders.post('/', { preHandler: [validate, once] }, async (request, reply) => {
        const slowMs = Number(request.headers['x-demo-slow-ms'] ?? 0)
        const { status, body, location } = await createOrder(once.of(request), request.order, {
          slowMs,
        })
        if (location !== undefined) void reply.header('location', location)
        return reply.code(status).send(body)
      })

      orders.get<{ Params: { id: string } }>('/:id', async (request, reply) => {
        const { status, body } = await findOrder(db, request.caller, request.params.id)
        return reply.code(status).send(body)
      })
      done()
    },
    { prefix: '/orders' },
  )

  return app
}
