import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { browserPage } from './browser-page.ts'
import { allowing, ordered, ordersServer } from './orders-server.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()
const page = browserPage()

describe('a page that is loaded anew amid an order', { timeout: 120_000 }, () => {
  it('F3: goes on with the key in its journal, where the order was placed: a replay, and one order', async () => {
    const sku = 'left behind the commit'
    using hold = gate()
    await using server = await ordersServer(db, {
      cors: allowing(page.origin),
      behind: (number) => (number === 1 ? hold.pass() : undefined),
    })
    await stopsAt(hold, beside(page.play('placeKept', { url: server.url, sku })))
    const [key] = await ordered(database, sku)
    await page.reload()
    strictEqual(await page.play('countKept'), 1)
    const [told] = await page.play('resume')
    deepStrictEqual([told?.status, told?.replayed, told?.key], [201, true, key])
    strictEqual(await page.play('countKept'), 0)
    deepStrictEqual(await ordered(database, sku), [key])
    deepStrictEqual(server.keys(), [`"${key}"`, `"${key}"`])
  })

  it('F3: goes on with it where the order was under way, which comes later and is no second one', async () => {
    const sku = 'left in front'
    using hold = gate()
    const first = Promise.withResolvers<undefined>()
    await using server = await ordersServer(db, {
      cors: allowing(page.origin),
      inFront: (number) => (number === 1 ? hold.pass() : undefined),
      behind(number) {
        if (number === 1) first.resolve(undefined)
      },
    })
    await stopsAt(hold, beside(page.play('placeKept', { url: server.url, sku })))
    deepStrictEqual(await ordered(database, sku), [])
    await page.reload()
    const [told] = await page.play('resume')
    deepStrictEqual([told?.status, told?.replayed, told?.attempts], [201, false, 1])
    strictEqual(await page.play('countKept'), 0)
    hold.open()
    await first.promise
    deepStrictEqual(await ordered(database, sku), [told?.key])
    deepStrictEqual(server.keys(), [`"${told?.key}"`, `"${told?.key}"`])
  })
})
