import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'
import { ZodError } from 'zod'

import type { OrderInput } from '../../examples/orders/order.ts'
import { placeOrder } from '../../examples/orders/place-order.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())
const caller = { tenant: 'acme', actor: 'alice' }

const tea = (orderNumber: string, more: Partial<OrderInput> = {}): OrderInput => ({
  ...{ orderNumber, sku: 'TEA', amountMinor: 1999 },
  ...more,
})
const place = (key: string, input: OrderInput) => placeOrder(idempotency, caller, key, input)

const orders = (orderNumber: string) =>
  database.watcher
    .selectFrom('orders')
    .selectAll()
    .where('order_number', '=', orderNumber)
    .execute()

describe('placeOrder', () => {
  it('places the order and tells the world, once; the same again is answered by the first', async () => {
    const first = await place('K-1', tea('A-1'))
    strictEqual(first.kind, 'executed')
    const again = await place('K-1', tea('A-1'))
    strictEqual(again.kind, 'replayed')
    deepStrictEqual(again.value, first.value)

    const [order, ...others] = await orders('A-1')
    deepStrictEqual(others, [])
    const { created_at, ...row } = { ...order }
    deepStrictEqual(row, {
      ...{ tenant: 'acme', actor: 'alice', operation: 'orders.create', idempotency_key: 'K-1' },
      ...{ order_number: 'A-1', sku: 'TEA', quantity: 1, amount_minor: '1999', currency: 'EUR' },
      ...{ status: 'placed', version: 1 },
    })
    deepStrictEqual(first.value, { orderNumber: 'A-1', placedAt: created_at?.toISOString() })

    const events = await database.watcher
      .selectFrom('outbox')
      .select(['tenant', 'type', 'aggregatetype', 'aggregateid', 'sequence', 'payload'])
      .where('aggregateid', '=', 'A-1')
      .execute()
    const payload = { ...tea('A-1'), quantity: 1, currency: 'EUR' }
    deepStrictEqual(events, [
      {
        ...{ tenant: 'acme', type: 'order.created', aggregatetype: 'order', aggregateid: 'A-1' },
        ...{ sequence: '1', payload },
      },
    ])
  })

  it('takes another amount under the same key for a conflict', async () => {
    await place('K-2', tea('A-2'))
    const other = await place('K-2', tea('A-2', { amountMinor: 2999 }))
    deepStrictEqual(other, { ok: false, kind: 'conflict' })
    strictEqual((await orders('A-2'))[0]?.amount_minor, '1999')
  })

  it('takes what is left out, and what is written another way, for the same order', async () => {
    const first = await place('K-3', tea('A-3'))
    strictEqual(first.kind, 'executed')
    for (const more of [{ currency: 'EUR' }, { currency: 'eur' }, { quantity: 1 }]) {
      const again = await place('K-3', tea('A-3', more))
      strictEqual(again.kind, 'replayed', JSON.stringify(more))
    }
    strictEqual((await place('K-3', tea('A-3', { currency: 'USD' }))).kind, 'conflict')
    strictEqual((await place('K-3', tea('A-3', { quantity: 2 }))).kind, 'conflict')
  })

  it('refuses what is not an order, and leaves the key free', async () => {
    const invalid: Partial<OrderInput>[] = [
      { amountMinor: 19.99 },
      { amountMinor: -1 },
      { quantity: 0 },
      { sku: '' },
      { orderNumber: 'a 4' },
      { currency: 'EU' },
    ]
    for (const more of invalid) {
      await rejects(place('K-4', tea('A-4', more)), ZodError, JSON.stringify(more))
    }
    strictEqual((await place('K-4', tea('A-4'))).kind, 'executed')
  })

  it('takes the currencies of ISO 4217 and no other three letters', async () => {
    for (const currency of ['JPY', 'usd', 'CHF']) {
      strictEqual(
        (await place(`K-5-${currency}`, tea(`A-5-${currency.toUpperCase()}`, { currency }))).kind,
        'executed',
      )
    }
    for (const currency of ['EUX', 'ABC', 'ZZZ']) {
      await rejects(place('K-5', tea('A-5', { currency })), ZodError, currency)
    }
  })

  it('lets callers share a key by chance: another actor, another tenant', async () => {
    await place('K-6', tea('A-6'))
    const bob = { ...caller, actor: 'bob' }
    const globex = { ...caller, tenant: 'globex' }
    strictEqual((await placeOrder(idempotency, bob, 'K-6', tea('A-6-B'))).kind, 'executed')
    strictEqual((await placeOrder(idempotency, globex, 'K-6', tea('A-6'))).kind, 'executed')
  })

  it('is stopped by the unique constraint on the key when the record was lost', async () => {
    await place('K-7', tea('A-7'))
    await database.watcher.deleteFrom('records').where('key', '=', 'K-7').execute()
    await rejects(place('K-7', tea('A-7-X')), (error: unknown) => {
      strictEqual(isOncelyError(error), false)
      const { code, constraint } = error as { code: string; constraint: string }
      deepStrictEqual([code, constraint], ['23505', 'orders_idempotency_key'])
      return true
    })
    deepStrictEqual(await orders('A-7-X'), [])
  })
})
