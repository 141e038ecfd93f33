import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { MutationObserver, QueryClient } from '@tanstack/query-core'
import { createIdempotentFetch } from 'oncely/client'

import { placeOrder as placeByAxios } from '../../examples/clients/axios.ts'
import { http } from '../../examples/clients/axios-retry.ts'
import { keptOrders } from '../../examples/clients/journal.ts'
import { placeOrder } from '../../examples/clients/place-order.ts'
import { placing } from '../../examples/clients/tanstack-query.ts'
import { waysToFail } from '../client/ways-to-fail.ts'
import { testDatabase } from '../support/database.ts'
import { mapStore } from './map-store.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass } = service
const hasty = { ...quick, attemptTimeoutMs: 500 }
const send = createIdempotentFetch(hasty)

/** The clients of docs/client.md. */
const clients: Record<string, (url: string) => Promise<{ orderNumber: string }>> = {
  async 'place-order.ts'(url) {
    const told = await placeOrder(send.intent(), url, tea)
    return ('order' in told && told.order) as { orderNumber: string }
  },
  'axios.ts': (url) => placeByAxios(send.intent(), url, tea),
  async 'axios-retry.ts'(url) {
    // A 409 counts among its retries.
    const fast = { 'axios-retry': { retries: 9, retryDelay: () => 1 }, timeout: 500 }
    return (await http.post<{ orderNumber: string }>(url, tea, fast)).data
  },
  'tanstack-query.ts'(url) {
    const observer = new MutationObserver(new QueryClient(), placing(send, url))
    return observer.mutate({ intent: { key: send.intent().key }, order: tea })
  },
  async 'journal.ts'(url) {
    const orders = keptOrders({ store: mapStore(), url, user: 'alice' }, hasty)
    const { response } = await orders.place(tea)
    return (await response.json()) as { orderNumber: string }
  },
}

for (const [client, order] of Object.entries(clients)) {
  describe(`${client}, where the server`, () => {
    for (const [way, steps] of Object.entries(waysToFail(pass))) {
      it(`${way}: one order, and its answer`, async () => {
        server.play(...steps, pass)
        const { orderNumber } = await order(service.url)
        const placed = database.watcher.selectFrom('orders').select('order_number as orderNumber')
        const made = await placed.where('idempotency_key', 'in', service.keys()).execute()
        deepStrictEqual(made, [{ orderNumber }])
        strictEqual(new Set(service.keys()).size, 1)
      })
    }
  })
}
