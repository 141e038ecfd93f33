import { strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import { Hono } from 'hono'

import { ordersOnHono } from '../../examples/orders/hono.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { headersOf, listening, onHono, placedUnder, tea } from './orders-served.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

/** Clients as people have them, each of which sends again by itself. */
const clients: Record<string, (url: string, key: string) => Promise<number>> = {
  async 'axios with axios-retry'(url, key) {
    const client = axios.create()
    axiosRetry(client, { retries: 3, retryCondition: (error) => axiosRetry.isNetworkError(error) })
    return (await client.post(`${url}/orders`, tea(), { headers: headersOf(key) })).status
  },
  async got(url, key) {
    const retry = { limit: 3, methods: ['POST' as const], backoffLimit: 10 }
    const sent = { headers: headersOf(key), body: tea(), retry }
    return (await got.post(`${url}/orders`, sent)).statusCode
  },
  async 'curl --retry'(url, key) {
    const headers = Object.entries(headersOf(key)).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`,
    ])
    const retry = ['--retry', '3', '--retry-all-errors', '--retry-delay', '1']
    const shown = ['-s', '-o', '/dev/null', '-w', '%{http_code}']
    const args = [...shown, ...retry, ...headers, '-d', tea(), `${url}/orders`]
    return Number((await promisify(execFile)('curl', args)).stdout)
  },
}

describe('a client that sends again by itself', () => {
  const lost = new Set<string>()
  let server: Server
  let url = ''
  before(async () => {
    const app = new Hono<{ Bindings: { incoming: { socket: { destroy(): void } } } }>()
    app.use(async (c, next) => {
      await next()
      const key = String(c.req.header('idempotency-key'))
      if (lost.has(key)) return
      lost.add(key)
      c.env.incoming.socket.destroy()
    })
    app.route('/', ordersOnHono(db) as never)
    server = onHono(app as never)
    url = await listening(server)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  for (const [name, call] of Object.entries(clients)) {
    it(`${name}: whose first answer was lost, has one order`, async () => {
      strictEqual(await call(url, name), 201)
      strictEqual((await placedUnder(database, name)).length, 1)
      strictEqual(lost.has(`"${name}"`), true)
    })
  }
})
