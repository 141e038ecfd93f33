import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { serve } from '@hono/node-server'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { Hono } from 'hono'
import type { Kysely } from 'kysely'

import { ordersOnExpress } from '../../examples/orders/express.ts'
import { ordersOnFastify } from '../../examples/orders/fastify.ts'
import { ordersOnHono } from '../../examples/orders/hono.ts'
import { ordersModule } from '../../examples/orders/nest.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'

import type { TestDatabase } from '../support/database.ts'

export const onHono = (app: Hono) =>
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server

const quiet = { logger: false, forceCloseConnections: true } as const

/** The orders service, on each framework. It listens. */
export const services: Readonly<Record<string, (db: Kysely<OrdersDatabase>) => Promise<Server>>> = {
  Hono: async (db) => Promise.resolve(onHono(ordersOnHono(db) as never)),
  Express: async (db) => Promise.resolve(ordersOnExpress(db).listen(0, '127.0.0.1')),
  async Fastify(db) {
    const app = ordersOnFastify(db)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
  async 'NestJS on Express'(db) {
    const app = await NestFactory.create(ordersModule(db), quiet)
    await app.listen(0, '127.0.0.1')
    return app.getHttpServer() as Server
  },
  async 'NestJS on Fastify'(db) {
    const app = await NestFactory.create(ordersModule(db), new FastifyAdapter(), quiet)
    await app.listen(0, '127.0.0.1')
    return app.getHttpServer() as Server
  },
}

export async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const headersOf = (key: string, more: Record<string, string> = {}) => ({
  authorization: 'Bearer alice',
  'content-type': 'application/json',
  'idempotency-key': `"${key}"`,
  ...more,
})

export const tea = (amountMinor = 100) => JSON.stringify({ sku: 'TEA', amountMinor })

export const placedUnder = (database: TestDatabase, key: string) =>
  database.watcher
    .selectFrom('orders')
    .select('order_number')
    .where('idempotency_key', '=', key)
    .execute()
