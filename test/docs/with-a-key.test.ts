import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { one, other, pay, scope, shopOn, takeToken, violation, writeOrder } from './shop.ts'

const database = testDatabase()
const shop = shopOn(database)
const db = shop.connect()
const idempotency = createIdempotency(db)
const proxy = wireProxy(database.url)
const proxied = () => createIdempotency(shop.connect({ connectionString: proxy.url() }))

/** An order whose number nobody knows before the function has run. */
const order = (key: string, sku: string, by = idempotency, print = one) =>
  by.withIdempotency(scope, key, print, (tx) => writeOrder(tx, sku))

describe('a key with stored response', () => {
  it('[9] A retry gets the first answer, even if nobody has seen it before', async () => {
    proxy.meddle('lost behind')
    // What it comes to is told to nobody.
    strictEqual((await order('K-9', 'SEEN', proxied())).kind, 'executed')
    const [number, ...others] = await shop.orders('SEEN')
    for (const _ of ['first retry', 'second retry']) {
      const retry = await order('K-9', 'SEEN')
      deepStrictEqual(retry, { ok: true, kind: 'replayed', value: { number } })
    }
    deepStrictEqual(others, [])
    deepStrictEqual(await shop.orders('SEEN'), [number])
  })

  it('[10] The same key with another fingerprint is a `conflict`', async () => {
    strictEqual((await order('K-10', 'FIRST')).kind, 'executed')
    deepStrictEqual(await order('K-10', 'ANOTHER', idempotency, other), {
      ok: false,
      kind: 'conflict',
    })
    deepStrictEqual(await shop.orders('ANOTHER'), [])
  })

  it('[11] Two keys are two intents, whatever they ask for: both execute', async () => {
    strictEqual((await order('K-11', 'TWICE')).kind, 'executed')
    strictEqual((await order('K-11-again', 'TWICE')).kind, 'executed')
    strictEqual((await shop.orders('TWICE')).length, 2)
  })
})

describe('a key around the other means', () => {
  it('[12] With the record deleted by hand, the unique constraint still stops the second order, and its error is thrown unchanged', async () => {
    const thrown: unknown[] = []
    const place = () =>
      idempotency.withIdempotency(scope, 'K-12', one, (tx) =>
        writeOrder(tx, 'STACK', 'N-12').catch((error: unknown) => {
          thrown.push(error)
          throw error
        }),
      )
    strictEqual((await place()).kind, 'executed')
    await database.watcher.deleteFrom('records').where('key', '=', 'K-12').execute()
    const failure = await failureOf(place())
    strictEqual(failure, thrown[0])
    const { code, constraint } = violation(failure)
    deepStrictEqual([code, constraint], ['23505', 'orders_number'])
    deepStrictEqual(await shop.orders('STACK'), ['N-12'])
    strictEqual(await shop.records('K-12'), 0)
  })

  it('[13] With a guarded update inside the function, a retry is replayed and another intent is rejected', async () => {
    await writeOrder(db, 'STATE', 'N-13')
    const payOnce = (key: string) =>
      idempotency.withIdempotency(scope, key, one, async (tx, context) =>
        (await pay(tx, 'N-13')) === 1n ? 'paid' : context.reject('not to be paid'),
      )
    deepStrictEqual(
      [await payOnce('mine'), await payOnce('mine'), await payOnce('theirs')],
      [
        { ok: true, kind: 'executed', value: 'paid' },
        { ok: true, kind: 'replayed', value: 'paid' },
        { ok: false, kind: 'rejected', refusal: 'not to be paid', replayed: false },
      ],
    )
  })

  it('[14] A token taken inside the function is there again if the function throws, and a lost answer is replayed', async () => {
    await db.insertInto('tokens').values({ token: 'T-14' }).execute()
    const use = (by = idempotency, after: () => void = () => undefined) =>
      by.withIdempotency(scope, 'K-14', one, async (tx, context) => {
        if (!(await takeToken(tx, 'T-14'))) return context.reject('no such token')
        after()
        return writeOrder(tx, 'TOKEN')
      })
    const own = new Error('own')
    const failure = await failureOf(
      use(idempotency, () => {
        throw own
      }),
    )
    strictEqual(failure, own)
    proxy.meddle('lost behind')
    strictEqual((await use(proxied())).kind, 'executed')
    const [number, ...others] = await shop.orders('TOKEN')
    deepStrictEqual(await use(), { ok: true, kind: 'replayed', value: { number } })
    deepStrictEqual(others, [])
  })
})
