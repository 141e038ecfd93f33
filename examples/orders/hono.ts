import { type Context, Hono } from 'hono'
import type { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'
import { idempotent, type Principal } from 'oncely/hono'

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

interface Env {
  Variables: { caller: Principal; order: NewOrder }
  /** Of `@hono/node-server`. */
  Bindings: { incoming: { socket: { destroy(): void } } }
}

/** The orders service on Hono. */
export function ordersOnHono(db: Kysely<OrdersDatabase>) {
  const app = new Hono<Env>()
  const idempotency = createIdempotency(db)
  const once = idempotent(ordersIdempotency(idempotency), {
    operation: 'orders.create',
    principal: (c: Context<Env>) => c.get('caller'),
    fingerprint: (c) => newOrderFingerprint(c.get('order')),
  })

  app.get('/healthz', (c) => c.json({ ok: true }))

  app.use('/orders/*', async (c, next) => {
    const caller = callerOf(c.req.header('authorization'))
    if (!caller) return c.json({ code: 'unauthenticated' }, 401, { 'www-authenticate': 'Bearer' })
    c.set('caller', caller)
    return next()
  })

  // Loses the answer of a call that is committed, as a network does; and not that of its retry.
  app.use('/orders', async (c, next) => {
    await next()
    const isFirst = c.res.ok && !c.res.headers.has('idempotent-replayed')
    if (isFirst && c.req.header('x-demo-lose-response')) c.env.incoming.socket.destroy()
  })

  app.post(
    '/orders',
    async (c, next) => {
      const parsed = newOrderSchema.safeParse(await c.req.json().catch(() => undefined))
      if (!parsed.success) return c.json({ code: 'invalid', issues: parsed.error.issues }, 400)
      c.set('order', parsed.data)
      return next()
    },
    once,
    async (c) => {
      const slowMs = Number(c.req.header('x-demo-slow-ms') ?? 0)
      const { status, body, location } = await createOrder(once.of(c), c.get('order'), { slowMs })
      return c.json(body, status, location === undefined ? {} : { location })
    },
  )

  app.get('/orders/:id', async (c) => {
    const { status, body } = await findOrder(db, c.get('caller'), c.req.param('id'))
    return c.json(body, status)
  })

  return app
}
