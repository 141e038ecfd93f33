import express, { type Request, type RequestHandler } from 'express'
import type { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'
import { idempotent, type Principal } from 'oncely/express'

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

/** What the middlewares in front have found out. */
interface Locals {
  caller: Principal
  order: NewOrder
}

const localsOf = ({ res }: Request) => res?.locals as Locals

/** The orders service on Express. */
export function ordersOnExpress(db: Kysely<OrdersDatabase>) {
  const app = express()
  const once = idempotent(ordersIdempotency(createIdempotency(db)), {
    operation: 'orders.create',
    principal: (request: Request) => localsOf(request).caller,
    fingerprint: (request) => newOrderFingerprint(localsOf(request).order),
  })

  app.get('/healthz', (_request, response) => {
    response.json({ ok: true })
  })

  app.use('/orders', express.json(), (request, response, next) => {
    const caller = callerOf(request.get('authorization'))
    if (caller) {
      localsOf(request).caller = caller
      next()
    } else {
      response.status(401).set('www-authenticate', 'Bearer').json({ code: 'unauthenticated' })
    }
  })

  app.post('/orders', losing, validate, once, async (request, response) => {
    const slowMs = Number(request.get('x-demo-slow-ms') ?? 0)
    const { order } = localsOf(request)
    const { status, body, location } = await createOrder(once.of(request), order, { slowMs })
    if (location !== undefined) response.location(location)
    response.status(status).json(body)
  })

  app.get('/orders/:id', async (request, response) => {
    const { status, body } = await findOrder(db, localsOf(request).caller, request.params.id)
    response.status(status).json(body)
  })

  return app
}

const losing: RequestHandler = (request, response, next) => {
  loseResponse(request, response)
  next()
}

const validate: RequestHandler = (request, response, next) => {
  const parsed = newOrderSchema.safeParse(request.body)
  if (parsed.success) {
    localsOf(request).order = parsed.data
    next()
  } else {
    response.status(400).json({ code: 'invalid', issues: parsed.error.issues })
  }
}
