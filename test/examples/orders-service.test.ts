import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'

import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { headersOf, listening, placedUnder, services, tea } from './orders-served.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

async function post(url: string, key: string, body = tea(), more: Record<string, string> = {}) {
  const sent = { method: 'POST', headers: headersOf(key, more), body }
  const response = await fetch(`${url}/orders`, sent)
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, answer }
}

for (const [framework, start] of Object.entries(services)) {
  describe(`the orders service on ${framework}`, () => {
    let server: Server
    let url = ''
    before(async () => {
      server = await start(db)
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
      strictEqual((await placedUnder(database, key)).length, 1)
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
      strictEqual((await placedUnder(database, key)).length, 0)
    })

    it('answers by the first when its answer was lost behind the commit', async () => {
      const key = `lost ${framework}`
      const lost = await post(url, key, tea(), { 'x-demo-lose-response': '1' }).catch(() => 'lost')
      strictEqual(lost, 'lost')
      strictEqual((await placedUnder(database, key)).length, 1)
      const again = await post(url, key)
      deepStrictEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
      strictEqual((await placedUnder(database, key)).length, 1)
    })

    it('places no second order where somebody has deleted the record: the same one, marked', async () => {
      const key = `deleted ${framework}`
      const first = await post(url, key)
      await database.watcher.deleteFrom('records').where('key', '=', key).execute()
      const second = await post(url, key)
      deepStrictEqual([second.status, second.answer], [200, first.answer])
      strictEqual(second.headers.get('idempotent-replayed'), 'true')
      strictEqual((await placedUnder(database, key)).length, 1)
    })
  })
}
