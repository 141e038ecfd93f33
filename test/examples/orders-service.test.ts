import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

import { serve } from '@hono/node-server'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import { Hono } from 'hono'

import { ordersOnExpress } from '../../examples/orders/express.ts'
import { ordersOnHono } from '../../examples/orders/hono.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

const onHono = (app: Hono) => serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
const services = {
  Hono: () => onHono(ordersOnHono(db) as never),
  Express: () => ordersOnExpress(db).listen(0, '127.0.0.1'),
}

async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const headersOf = (key: string, more: Record<string, string> = {}) => ({
  authorization: 'Bearer alice',
  'content-type': 'application/json',
  'idempotency-key': `"${key}"`,
  ...more,
})

const tea = (amountMinor = 100) => JSON.stringify({ sku: 'TEA', amountMinor })

async function post(url: string, key: string, body = tea(), more: Record<string, string> = {}) {
  const sent = { method: 'POST', headers: headersOf(key, more), body }
  const response = await fetch(`${url}/orders`, sent)
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, answer }
}

const placedUnder = (key: string) =>
  database.watcher
    .selectFrom('orders')
    .select('order_number')
    .where('idempotency_key', '=', key)
    .execute()

for (const [framework, start] of Object.entries(services)) {
  describe(`the orders service on ${framework}`, () => {
    let server: Server
    let url = ''
    before(async () => {
      server = start()
      url = await listening(server)
    })
    after(() => {
      server.closeAllConnections()
      server.close()
    })

    it('places an order once, and shows it', async () => {
      const key = `once ${framework}`
      const [first, second] = [await post(url, key), await post(url, key)]
      strictEqual(first.status, 201)
      deepStrictEqual(second.answer, first.answer)
      strictEqual(second.headers.get('idempotent-replayed'), 'true')
      strictEqual((await placedUnder(key)).length, 1)
      const location = String(first.headers.get('location'))
      match(location, /^\/orders\/O-[0-9A-F]{8}$/)
      const shown = await fetch(url + location, { headers: { authorization: 'Bearer alice' } })
      deepStrictEqual(await shown.json(), first.answer)
      strictEqual((await fetch(`${url}/healthz`)).status, 200)
    })

    it('takes a default for the same as its value, and another amount for another order', async () => {
      const key = `default ${framework}`
      const sent = [tea(), '{"amountMinor":100,"currency":"eur","quantity":1,"sku":"TEA"}']
      for (const body of sent) strictEqual((await post(url, key, body)).status, 201)
      const other = await post(url, key, tea(101))
      deepStrictEqual([other.status, other.answer['code']], [422, 'key_reused'])
    })

    it('refuses what is no order, or nobody, and the key stays free', async () => {
      const key = `invalid ${framework}`
      strictEqual((await post(url, key, '{"sku":"TEA"}')).status, 400)
      strictEqual((await post(url, key, tea(), { authorization: 'Bearer eve' })).status, 401)
      strictEqual((await post(url, key)).status, 201)
    })

    it('refuses for good what is beyond the credit', async () => {
      const key = `credit ${framework}`
      const more = { authorization: 'Bearer bob' }
      for (const replayed of [null, 'true']) {
        const seen = await post(url, key, tea(200_000), more)
        deepStrictEqual([seen.status, seen.answer], [402, { code: 'credit_exceeded' }])
        strictEqual(seen.headers.get('idempotent-replayed'), replayed)
      }
      strictEqual((await placedUnder(key)).length, 0)
    })

    it('answers by the first when its answer was lost behind the commit', async () => {
      const key = `lost ${framework}`
      const lost = await post(url, key, tea(), { 'x-demo-lose-response': '1' }).catch(() => 'lost')
      strictEqual(lost, 'lost')
      strictEqual((await placedUnder(key)).length, 1)
      const again = await post(url, key)
      deepStrictEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
      strictEqual((await placedUnder(key)).length, 1)
    })

    it('places no second order where somebody has deleted the record: the same one, marked', async () => {
      const key = `deleted ${framework}`
      const first = await post(url, key)
      await database.watcher.deleteFrom('records').where('key', '=', key).execute()
      const second = await post(url, key)
      deepStrictEqual([second.status, second.answer], [200, first.answer])
      strictEqual(second.headers.get('idempotent-replayed'), 'true')
      strictEqual((await placedUnder(key)).length, 1)
    })
  })
}

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
      strictEqual((await placedUnder(name)).length, 1)
      strictEqual(lost.has(`"${name}"`), true)
    })
  }
})
