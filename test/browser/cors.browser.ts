import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { KeptIntent } from 'oncely/client'

import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { browserPage } from './browser-page.ts'
import { allowing, countRecords, ordered, ordersServer } from './orders-server.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

for (const [kind, host, isTrusted] of [
  ['that browsers trust', '127.0.0.1', true],
  ['of another site that browsers do not trust', 'shop.test', false],
] as const) {
  describe(`a page ${kind}`, { timeout: 120_000 }, () => {
    const page = browserPage(host)

    it(`F1, F10: places one order elsewhere, and its preflight claims nothing (${host})`, async () => {
      strictEqual(await page.play('isTrusted'), isTrusted)
      const sku = `allowed ${host}`
      const before = await countRecords(database)
      let behindPreflight: number | undefined
      await using server = await ordersServer(db, {
        cors: allowing(page.origin),
        async inFront() {
          behindPreflight = await countRecords(database)
        },
      })
      const told = await page.play('place', { url: server.url, sku })
      deepStrictEqual(
        { ...told, order: told.order?.['sku'] },
        {
          ...{ status: 201, replayed: false, attempts: 1, key: told.key },
          ...{ retention: '86400', order: sku },
        },
      )
      deepStrictEqual(server.come, [
        { method: 'OPTIONS', key: undefined },
        { method: 'POST', key: `"${told.key}"` },
      ])
      strictEqual(behindPreflight, before)
      strictEqual(await countRecords(database), before + 1)
      deepStrictEqual(await ordered(database, sku), [told.key])
    })
  })
}

describe('what a page of another origin may read', { timeout: 120_000 }, () => {
  const page = browserPage()
  const year = { options: { retentionMs: 31_536_000_000 } }
  const twoDaysAgo = () => Date.now() - 2 * 86_400_000

  it('F10: is what the server exposes: a replay, and for how long it knows a key', async () => {
    const sku = 'exposed'
    await using server = await ordersServer(db, { cors: allowing(page.origin) })
    const place = (kept?: KeptIntent) => page.play('place', { url: server.url, sku, kept, ...year })
    const first = await place()
    deepStrictEqual([first.replayed, first.retention], [false, '86400'])
    const again = await place({ key: first.key })
    deepStrictEqual([again.replayed, again.order], [true, first.order])
    // So that it is not sent, when it could take effect once more.
    const old = await place({ key: 'exposed, old', since: twoDaysAgo() })
    deepStrictEqual([old.code, old.attempts, server.keys().length], ['retention_exceeded', 0, 2])
    deepStrictEqual(await ordered(database, sku), [first.key])
  })

  it('F10: is the answer alone where nothing is exposed: one order, but no word of a replay', async () => {
    const sku = 'hidden'
    const { exposeHeaders: _hidden, ...cors } = allowing(page.origin)
    await using server = await ordersServer(db, { cors })
    const place = (kept?: KeptIntent) => page.play('place', { url: server.url, sku, kept, ...year })
    const first = await place()
    deepStrictEqual([first.status, first.replayed, first.retention], [201, false, null])
    // It was one.
    const again = await place({ key: first.key })
    deepStrictEqual([again.status, again.replayed, again.order], [201, false, first.order])
    deepStrictEqual(await ordered(database, sku), [first.key])
    // For how long the server knows a key, the client has from its options alone, which are wrong here.
    const old = await place({ key: 'hidden, old', since: twoDaysAgo() })
    deepStrictEqual([old.status, old.attempts], [201, 1])
    notStrictEqual(old.order?.['orderNumber'], first.order?.['orderNumber'])
  })
})

describe('what a page of another origin is not allowed', { timeout: 120_000 }, () => {
  const page = browserPage()
  const twice = { options: { maxAttempts: 2 } }
  const unknown = { code: 'outcome_unknown', attempts: 2, causedBy: 'TypeError' }
  const { allowHeaders } = allowing('')

  for (const [why, corsFor] of [
    [
      'the header of the key is not allowed',
      (origin: string) => ({
        ...allowing(origin),
        allowHeaders: allowHeaders.filter((name) => name !== 'idempotency-key'),
      }),
    ],
    ['another origin is allowed', () => allowing('http://127.0.0.1:1')],
    ['the preflight is refused like any other request without a token', () => undefined],
  ] as const) {
    it(`F10: is not sent, where ${why}: the preflight fails, and nothing is written`, async () => {
      const records = await countRecords(database)
      await using server = await ordersServer(db, { cors: corsFor(page.origin) })
      const told = await page.play('place', { url: server.url, sku: why, ...twice })
      deepStrictEqual(told, { ...unknown, key: told.key })
      // A failed preflight is a broken connection to a page: the client tries to its limits.
      const preflight = { method: 'OPTIONS', key: undefined }
      deepStrictEqual(server.come, [preflight, preflight])
      strictEqual(await countRecords(database), records)
      deepStrictEqual(await ordered(database, why), [])
    })
  }

  it('F10: is sent and not read, where CORS is in front of preflights alone: one order, unknown to the page', async () => {
    const sku = 'unread'
    await using server = await ordersServer(db, { cors: allowing(page.origin), forgets: true })
    const told = await page.play('place', { url: server.url, sku, ...twice })
    deepStrictEqual(told, { ...unknown, key: told.key })
    deepStrictEqual(server.keys(), [`"${told.key}"`, `"${told.key}"`])
    deepStrictEqual(await ordered(database, sku), [told.key])
  })
})
