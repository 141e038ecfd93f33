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
const losing = { headers: { 'x-demo-lose-response': '1' } }

describe('an order whose answer is lost behind the commit', { timeout: 120_000 }, () => {
  for (const [how, scenario] of [
    ['by a URL', 'place'],
    ['by a Request', 'placeRequest'],
  ] as const) {
    it(`is sent again by the client with the same key, ${how}: a replay, and one order`, async () => {
      const sku = `lost ${how}`
      // A fresh connection, which no browser believes to have been closed for being idle.
      await using server = await ordersServer(db, { cors: allowing(page.origin), closes: true })
      const told = await page.play(scenario, { url: server.url, sku, ...losing })
      deepStrictEqual([told.status, told.replayed, told.attempts], [201, true, 2])
      deepStrictEqual(server.keys(), [`"${told.key}"`, `"${told.key}"`])
      deepStrictEqual(await ordered(database, sku), [told.key])
    })
  }

  it('is sent again by the browser itself on a connection that was kept: a replay at the first attempt', async () => {
    const sku = 'lost, kept connection'
    await using server = await ordersServer(db, { cors: allowing(page.origin) })
    const told = await page.play('place', { url: server.url, sku, ...losing })
    deepStrictEqual([told.status, told.replayed, told.attempts], [201, true, 1])
    deepStrictEqual(server.keys(), [`"${told.key}"`, `"${told.key}"`])
    deepStrictEqual(await ordered(database, sku), [told.key])
  })
})

describe('a double click', { timeout: 120_000 }, () => {
  it('F3: sends one key twice at once, and shows the same order twice', async () => {
    const sku = 'clicked'
    using both = gate()
    await using server = await ordersServer(db, {
      cors: allowing(page.origin),
      async inFront(number) {
        if (number === 2) both.open()
        await both.pass()
      },
    })
    const [one, other] = await page.play('doubleClick', { url: server.url, sku })
    deepStrictEqual([one.status, one.order], [201, other.order])
    deepStrictEqual([one.replayed, other.replayed].sort(), [false, true])
    deepStrictEqual([...new Set(server.keys())], [`"${one.key}"`])
    deepStrictEqual(await ordered(database, sku), [one.key])
  })
})

describe('another order with the same key', { timeout: 120_000 }, () => {
  it('F6: is an error that says so, with its key, and is sent once', async () => {
    const sku = 'reused'
    await using server = await ordersServer(db, { cors: allowing(page.origin) })
    const place = (key: string | undefined, amountMinor: number) =>
      page.play('place', { url: server.url, sku, amountMinor, ...(key && { kept: { key } }) })
    const { key } = await place(undefined, 100)
    deepStrictEqual(await place(key, 200), { code: 'key_reused', key, attempts: 1, status: 422 })
    strictEqual(server.keys().length, 2)
    deepStrictEqual(await ordered(database, sku), [key])
  })
})

describe('a signal', { timeout: 120_000 }, () => {
  it('F7: ends an order at once with its own reason, and nothing more is sent', async () => {
    const sku = 'aborted'
    const kept = { key: 'aborted, then wanted again' }
    using hold = gate()
    await using server = await ordersServer(db, {
      cors: allowing(page.origin),
      inFront: (number) => (number === 1 ? hold.pass() : undefined),
    })
    const call = beside(page.play('placeUntilAborted', { url: server.url, sku, kept }))
    await stopsAt(hold, call)
    await page.play('abort')
    deepStrictEqual(await call, { isReason: true, name: 'AbortError' })
    // Of a client that had gone on it would be in front of this one.
    const later = await page.play('place', { url: server.url, sku: 'later' })
    deepStrictEqual(server.keys(), [`"${kept.key}"`, `"${later.key}"`])
    hold.open()
    // What became of the first, the key tells.
    const again = await page.play('place', { url: server.url, sku, kept })
    strictEqual(again.status, 201)
    deepStrictEqual(await ordered(database, sku), [kept.key])
  })
})

describe('what a page sends to its own server', { timeout: 120_000 }, () => {
  it('may be a path, which is made a URL once', async () => {
    const url = `${page.origin}/nowhere`
    const told = await page.play('placeBeside', '/nowhere', 'follow')
    deepStrictEqual(told, { status: 404, url, attempts: 1, urls: [url] })
  })

  it('is unknown at once where a redirect by hand hides the answer', async () => {
    const told = await page.play('placeBeside', '/moved', 'manual')
    const unknown = { code: 'outcome_unknown', attempts: 1 }
    deepStrictEqual(told, { ...unknown, urls: [`${page.origin}/moved`] })
  })
})
