// What anybody would try on such an endpoint, over HTTP, on a real database: of NestJS on both platforms.
import { deepStrictEqual, match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'

import { sql } from 'kysely'

import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { testDatabase } from '../support/database.ts'
import { headersOf, listening, placedUnder, services, tea } from './orders-served.ts'

const database = testDatabase()
const db = database.connect<OrdersDatabase>()

/** Whether an order is being placed: it has the lock of its caller. */
async function isHeld(): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from pg_locks where locktype = 'advisory' and granted and database =
      (select oid from pg_database where datname = current_database())) as held
  `.execute(database.watcher)
  return rows[0]?.held === true
}

const onNest = Object.entries(services).filter(([name]) => name.startsWith('NestJS'))

for (const [framework, start] of onNest) {
  describe(`the orders service, ${framework}`, () => {
    let server: Server
    let url = ''
    before(async () => {
      server = await start(db)
      url = `${await listening(server)}/orders`
    })
    after(() => {
      server.closeAllConnections()
      server.close()
    })
    const post = async (key: string, more: Record<string, string> = {}, body = tea()) => {
      const response = await fetch(url, { method: 'POST', headers: headersOf(key, more), body })
      const { status, headers } = response
      return { status, headers, text: await response.text() }
    }

    it('answers 201 with an order, and the same again, of one row', async () => {
      const key = `acceptance ${framework}`
      const [first, second] = [await post(key), await post(key)]
      deepStrictEqual([first.status, first.headers.get('idempotent-replayed')], [201, null])
      match((JSON.parse(first.text) as { orderNumber: string }).orderNumber, /^O-[0-9A-F]{8}$/)
      deepStrictEqual(
        [second.status, second.text, second.headers.get('idempotent-replayed')],
        [201, first.text, 'true'],
      )
      strictEqual((await placedUnder(database, key)).length, 1)
    })

    it('tells the second 409 while the first is under way, and to come again in a second', async () => {
      const key = `slow ${framework}`
      let isOver = false as boolean
      const first = post(key, { 'x-demo-slow-ms': '3000' }).finally(() => {
        isOver = true
      })
      while (!(await isHeld())) await setImmediate()
      const second = await post(key)
      deepStrictEqual([second.status, second.headers.get('retry-after'), isOver], [409, '1', false])
      match(second.text, /request_outstanding/)
      const placed = await first
      strictEqual(placed.status, 201)
      strictEqual((await post(key)).text, placed.text)
      strictEqual((await placedUnder(database, key)).length, 1)
    })

    it('has a database that refuses a second order of a key by itself', async () => {
      const key = `raw ${framework}`
      strictEqual((await post(key)).status, 201)
      const again = sql`insert into idem.orders
        (tenant, actor, operation, idempotency_key, order_number, sku, quantity, amount_minor, currency, status)
        select tenant, actor, operation, idempotency_key, 'O-2', sku, quantity, amount_minor, currency, status
        from idem.orders where idempotency_key = ${key}`
      await rejects(again.execute(database.watcher), {
        code: '23505',
        constraint: 'orders_idempotency_key',
      })
    })

    it('reveals nothing of a key to another user', async () => {
      const key = `private ${framework}`
      const first = await post(key, {}, tea(7))
      const bob = { authorization: 'Bearer bob' }
      const others = [await post(key, bob, tea(8)), await post(key, bob, tea(8))]
      // As if the key had never been: an order of his own, though the content is another.
      deepStrictEqual(
        others.map(({ status, headers }) => [status, headers.get('idempotent-replayed')]),
        [
          [201, null],
          [201, 'true'],
        ],
      )
      notStrictEqual(others[0]?.text, first.text)
      strictEqual((await placedUnder(database, key)).length, 2)
    })
  })
}
