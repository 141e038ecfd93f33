import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { Kysely } from 'kysely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { pay, type ShopDatabase, shopOn, takeToken, violation, writeOrder } from './shop.ts'

const database = testDatabase()
const shop = shopOn(database)
const db = shop.connect()
const second = shop.connect({ application_name: 'second' })
const proxy = wireProxy(database.url)

describe('a unique constraint', () => {
  it('[1] A unique constraint stops the second row and gives the second caller an error, not the first answer', async () => {
    deepStrictEqual(await writeOrder(db, 'UNIQUE', 'U-1'), { number: 'U-1' })
    const { code, constraint } = violation(await failureOf(writeOrder(db, 'UNIQUE', 'U-1')))
    deepStrictEqual([code, constraint], ['23505', 'orders_number'])
    deepStrictEqual(await shop.orders('UNIQUE'), ['U-1'])
  })

  it('[2] The error of a retry and that of another intent are the same', async () => {
    await writeOrder(db, 'FIRST', 'U-2')
    const retry = violation(await failureOf(writeOrder(db, 'FIRST', 'U-2')))
    const another = violation(await failureOf(writeOrder(db, 'ANOTHER', 'U-2')))
    strictEqual(retry.code, '23505')
    deepStrictEqual(another, retry)
  })

  it('[3] A function that makes a new number on every run is not stopped by it', async () => {
    const numbers = [await writeOrder(db, 'NEW'), await writeOrder(db, 'NEW')]
    deepStrictEqual(
      (await shop.orders('NEW')).toSorted(),
      numbers.map(({ number }) => number).toSorted(),
    )
    strictEqual(numbers.length, 2)
  })
})

describe('a state machine', () => {
  it('[4] A guarded update makes a transition once, also when two come at the same moment', async () => {
    await writeOrder(db, 'STATE', 'S-1')
    using hold = gate()
    const first = beside(
      db.transaction().execute(async (tx) => {
        const paid = await pay(tx, 'S-1')
        await hold.pass()
        return paid
      }),
    )
    await stopsAt(hold, first)
    const twin = beside(pay(second, 'S-1'))
    await shop.untilWaiting('second')
    hold.open()
    deepStrictEqual([await first, await twin, await pay(db, 'S-1')], [1n, 0n, 0n])
  })

  it("[5] 0 rows do not say whether the transition was mine, somebody else's, or never possible", async () => {
    await writeOrder(db, 'STATE', 'MINE')
    await writeOrder(db, 'STATE', 'THEIRS')
    strictEqual(await pay(db, 'MINE'), 1n)
    strictEqual(await pay(second, 'THEIRS'), 1n)
    const mine = await pay(db, 'MINE')
    const theirs = await pay(db, 'THEIRS')
    const never = await pay(db, 'NEVER-PLACED')
    deepStrictEqual([mine, theirs, never], [0n, 0n, 0n])
  })

  it('[6] Where a state comes back, a late retry makes the transition again', async () => {
    await writeOrder(db, 'STATE', 'S-6')
    strictEqual(await pay(db, 'S-6'), 1n)
    strictEqual(await pay(db, 'S-6'), 0n)
    // The money was given back.
    await db.updateTable('orders').set({ status: 'placed' }).where('number', '=', 'S-6').execute()
    strictEqual(await pay(db, 'S-6'), 1n)
  })
})

describe('a one-time token', () => {
  const use = (by: Kysely<ShopDatabase>, token: string, pass = () => Promise.resolve()) =>
    by.transaction().execute(async (tx) => {
      if (!(await takeToken(tx, token))) return 'no such token'
      await pass()
      return writeOrder(tx, token)
    })

  it('[7] A token taken by `delete … returning` is used once, also when two come at the same moment', async () => {
    await db.insertInto('tokens').values({ token: 'T-7' }).execute()
    using hold = gate()
    const first = beside(use(db, 'T-7', hold.pass))
    await stopsAt(hold, first)
    const twin = beside(use(second, 'T-7'))
    await shop.untilWaiting('second')
    hold.open()
    const answer = await first
    strictEqual(await twin, 'no such token')
    strictEqual(await use(db, 'T-7'), 'no such token')
    deepStrictEqual(
      (await shop.orders('T-7')).map((number) => ({ number })),
      [answer],
    )
  })

  it('[8] A caller whose answer is lost has nothing: the token is used, and the answer is nowhere', async () => {
    await db.insertInto('tokens').values({ token: 'T-8' }).execute()
    proxy.meddle('lost behind')
    const failure = await failureOf(use(shop.connect({ connectionString: proxy.url() }), 'T-8'))
    strictEqual(failure instanceof Error, true)
    strictEqual((await shop.orders('T-8')).length, 1)
    strictEqual(await use(db, 'T-8'), 'no such token')
  })
})
