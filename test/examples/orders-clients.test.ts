import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'

import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { headersOf, listening, placedUnder, services, tea } from './orders-served.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

/** What a client was told: the status, and whether it was a replay. */
type Told = readonly [status: number, replayed: string | undefined]

const losing = (key: string) => headersOf(key, { 'x-demo-lose-response': '1' })

/** Clients as people have them, each of which sends again by itself, or is made to. */
const clients: Record<string, (url: string, key: string) => Promise<Told>> = {
  async 'fetch, again where it fails'(url, key) {
    const send = () => fetch(url, { method: 'POST', headers: losing(key), body: tea() })
    const { status, headers } = await send().catch(send)
    return [status, headers.get('idempotent-replayed') ?? undefined]
  },
  async 'axios with axios-retry'(url, key) {
    const client = axios.create()
    axiosRetry(client, { retries: 3, retryCondition: (error) => axiosRetry.isNetworkError(error) })
    const { status, headers } = await client.post(url, tea(), { headers: losing(key) })
    return [status, headers['idempotent-replayed'] as string]
  },
  async got(url, key) {
    const retry = { limit: 3, methods: ['POST' as const], backoffLimit: 10 }
    const { statusCode, headers } = await got.post(url, {
      headers: losing(key),
      body: tea(),
      retry,
    })
    return [statusCode, headers['idempotent-replayed'] as string]
  },
  async 'curl --retry'(url, key) {
    const headers = Object.entries(losing(key)).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`,
    ])
    const retry = ['--retry', '3', '--retry-all-errors', '--retry-delay', '1']
    const shown = ['-s', '-o', '/dev/null', '-w', '%{http_code} %header{idempotent-replayed}']
    const { stdout } = await promisify(execFile)('curl', [
      ...shown,
      ...retry,
      ...headers,
      '-d',
      tea(),
      url,
    ])
    const [status, replayed] = stdout.split(' ')
    return [Number(status), replayed]
  },
}

for (const [framework, start] of Object.entries(services)) {
  describe(`a client of the orders service on ${framework}, whose first answer is lost`, () => {
    let server: Server
    before(async () => {
      server = await start(db)
    })
    after(() => {
      server.closeAllConnections()
      server.close()
    })

    for (const [name, call] of Object.entries(clients)) {
      it(`${name}: has one order, and is told by a replay`, async () => {
        const key = `${name} ${framework}`
        deepStrictEqual(await call(`${await listening(server)}/orders`, key), [201, 'true'])
        strictEqual((await placedUnder(database, key)).length, 1)
      })
    }
  })
}
