import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { after, describe, it } from 'node:test'

import { orderForm } from '../../examples/client.ts'
import { ordersOnHono } from '../../examples/orders/hono.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { listening, onHono } from './orders-served.ts'

const database = testDatabase()
const service = ordersOnHono(database.connect<OrdersDatabase>())

describe('the form of README', () => {
  // Who is signed in: a page of its own origin would send a cookie.
  const server = onHono({
    fetch: (request: Request, env: object) => {
      request.headers.set('authorization', 'Bearer alice')
      return service.fetch(request, env)
    },
  } as never)
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('makes one order of two clicks, and another of another form', async () => {
    const url = `${await listening(server)}/orders`
    const order = { sku: 'TEA', amountMinor: 100 }
    const click = orderForm(url, order)
    const clicks = await Promise.all([click(), click()])
    deepStrictEqual(
      clicks.toSorted((a, b) => Number(a.replayed) - Number(b.replayed)),
      [
        { status: 201, replayed: false },
        { status: 201, replayed: true },
      ],
    )
    strictEqual((await orderForm(url, order)()).status, 201)
    const made = await database.watcher.selectFrom('orders').select('order_number').execute()
    strictEqual(made.length, 2)
  })
})
