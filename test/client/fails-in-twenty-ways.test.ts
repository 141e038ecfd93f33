import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch } from 'oncely/client'

import { ordersOnExpress } from '../../examples/orders/express.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { scriptedServer, type Step } from './scripted-server.ts'
import { waysToFail } from './ways-to-fail.ts'

const database = testDatabase()
const orders = ordersOnExpress(database.connect<OrdersDatabase>())
const pass = orders as unknown as Step
const server = scriptedServer()
const ways = waysToFail(pass)

const send = createIdempotentFetch({
  attemptTimeoutMs: 1_000,
  initialDelayMs: 1,
  maxDelayMs: 10,
})

describe('a server that fails', () => {
  strictEqual(Object.keys(ways).length, 20)
  for (const [way, steps] of Object.entries(ways)) {
    it(`and ${way}: one order, and its answer`, async () => {
      server.play(...steps, pass)
      const { response, attempts, key } = await send(`${server.url}/orders`, {
        method: 'POST',
        headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
        body: JSON.stringify({ sku: 'TEA', amountMinor: 100 }),
      })
      const { orderNumber } = (await response.json()) as { orderNumber: string }
      const made = await database.watcher
        .selectFrom('orders')
        .select('order_number as orderNumber')
        .where('idempotency_key', '=', key)
        .execute()
      deepStrictEqual([response.status, made], [201, [{ orderNumber }]])
      strictEqual(attempts, steps.length + 1)
      const keys = server.requests.map(({ headers }) => headers['idempotency-key'])
      deepStrictEqual(new Set(keys), new Set([`"${key}"`]))
    })
  }
})
