// README's examples of a route, on each framework: the same order twice is made once.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { createIdempotentFetch } from 'oncely/client'

import { app as onExpress } from './http/express.ts'
import { app as onFastify } from './http/fastify.ts'
import { createOrder } from './http/fetch.ts'
import { app as onHono } from './http/hono.ts'
import { AppModule } from './http/nestjs.ts'
import { server as onNode } from './http/node.ts'
import { db } from './quick-start.ts'

await db.schema
  .createTable('orders')
  .addColumn('id', 'text', (column) => column.primaryKey())
  .addColumn('sku', 'text')
  .addColumn('cents', 'integer')
  .execute()

/** Makes one request of a server on a socket, and ends it. */
const onSocket = (server: Server) => async (request: Request) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { method, headers } = request
  const body = await request.text()
  const answer = await fetch(`http://127.0.0.1:${port}/orders`, { method, headers, body })
  const whole = new Response(await answer.text(), answer)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return whole
}

await onFastify.ready()
const quiet = { logger: ['error' as const] }
const onNest = await NestFactory.create(AppModule, quiet)
await onNest.init()
const onNestAndFastify = await NestFactory.create(AppModule, new FastifyAdapter(), quiet)
await onNestAndFastify.init()
const nestsFastify = onNestAndFastify.getHttpAdapter().getInstance()
await nestsFastify.ready()

const routes: Record<string, (request: Request) => Promise<Response>> = {
  express: onSocket(createServer(onExpress)),
  fastify: onSocket(createServer(onFastify.routing)),
  nestjs: onSocket(onNest.getHttpServer()),
  'nestjs-fastify': onSocket(createServer(nestsFastify.routing)),
  hono: async (request) => onHono.request(request),
  node: onSocket(onNode),
  fetch: createOrder,
}

for (const [name, send] of Object.entries(routes)) {
  const answers: Response[] = []
  for (let time = 1; time <= 2; time += 1) {
    const json = { 'content-type': 'application/json' }
    const headers = { ...json, 'idempotency-key': `"${name}"`, 'x-user-id': '7' }
    const body = JSON.stringify({ sku: 'tea' })
    answers.push(
      await send(new Request('http://localhost/orders', { method: 'POST', headers, body })),
    )
  }
  const texts = new Set(await Promise.all(answers.map((answer) => answer.text())))
  const replayed = answers.map(({ headers }) => headers.get('idempotent-replayed') ?? 'first')
  console.log(name, answers.map(({ status }) => status).join(' '), replayed.join(' '), texts.size)
}

// The client, whose two clicks are one order.
await onFastify.listen({ port: 0, host: '127.0.0.1' })
const { port } = onFastify.server.address() as AddressInfo
const intent = createIdempotentFetch().intent()
for (let click = 1; click <= 2; click += 1) {
  const headers = { 'content-type': 'application/json', 'x-user-id': '7' }
  const init = { method: 'POST', headers, body: JSON.stringify({ sku: 'tea' }) }
  const { response, replayed } = await intent.send(`http://127.0.0.1:${port}/orders`, init)
  console.log('client', response.status, replayed ? 'true' : 'first')
}
await onFastify.close()
await db.destroy()
