import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { one, scope, type ShopDatabase, shopOn, writeOrder } from './shop.ts'

type Db = Kysely<ShopDatabase>
/** Takes a piece of stock, if there is one; stops at the gate where another could come between. */
type Take = (tx: Db, sku: string, pass: () => Promise<void>) => Promise<boolean>

const shop = shopOn(testDatabase())
const db = shop.connect()
const second = shop.connect({ application_name: 'second' })

function sell(by: Db, key: string, sku: string, take: Take, pass = () => Promise.resolve()) {
  return createIdempotency(by).withIdempotency(scope, key, one, async (tx, context) => {
    if (!(await take(tx, sku, pass))) return context.reject('sold out')
    return writeOrder(tx, sku)
  })
}

const read = (tx: Db, sku: string) => tx.selectFrom('items').select('stock').where('sku', '=', sku)

const write = (tx: Db, sku: string, stock: number) =>
  tx.updateTable('items').set({ stock }).where('sku', '=', sku).execute()

const lastPiece = (sku: string) => db.insertInto('items').values({ sku, stock: 1 }).execute()

/** The second key comes while the first is in the middle, and waits for it. */
async function oneBehindTheOther(sku: string, take: Take) {
  await lastPiece(sku)
  using hold = gate()
  const first = beside(sell(db, `${sku} first`, sku, take, hold.pass))
  await stopsAt(hold, first)
  const other = beside(sell(second, `${sku} second`, sku, take))
  await shop.untilWaiting('second')
  hold.open()
  strictEqual((await first).kind, 'executed')
  deepStrictEqual(await other, {
    ok: false,
    kind: 'rejected',
    refusal: 'sold out',
    replayed: false,
  })
  strictEqual((await shop.orders(sku)).length, 1)
  deepStrictEqual(await read(db, sku).execute(), [{ stock: 0 }])
}

describe('two intents at the last piece of stock', () => {
  it('[18] Two keys that read the stock before they write it both sell the last piece', async () => {
    const take: Take = async (tx, sku, pass) => {
      const { stock } = await read(tx, sku).executeTakeFirstOrThrow()
      await pass()
      if (stock > 0) await write(tx, sku, stock - 1)
      return stock > 0
    }
    await lastPiece('READ')
    using early = gate()
    using late = gate()
    const calls = [
      beside(sell(db, 'READ first', 'READ', take, early.pass)),
      beside(sell(second, 'READ second', 'READ', take, late.pass)),
    ] as const
    await stopsAt(early, calls[0])
    await stopsAt(late, calls[1])
    early.open()
    late.open()
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
    deepStrictEqual(kinds, ['executed', 'executed'])
    strictEqual((await shop.orders('READ')).length, 2)
    deepStrictEqual(await read(db, 'READ').execute(), [{ stock: 0 }])
  })

  it('[19] With `set stock = stock - 1 where stock > 0`, one executes and the other is rejected', async () => {
    await oneBehindTheOther('GUARDED', async (tx, sku, pass) => {
      const { numUpdatedRows } = await tx
        .updateTable('items')
        .set((eb) => ({ stock: eb('stock', '-', 1) }))
        .where('sku', '=', sku)
        .where('stock', '>', 0)
        .executeTakeFirstOrThrow()
      await pass()
      return numUpdatedRows === 1n
    })
  })

  it('[20] With `select … for update` in front of the decision, likewise', async () => {
    await oneBehindTheOther('LOCKED', async (tx, sku, pass) => {
      const { stock } = await read(tx, sku).forUpdate().executeTakeFirstOrThrow()
      await pass()
      if (stock > 0) await write(tx, sku, stock - 1)
      return stock > 0
    })
  })

  it('[21] A refusal by `context.reject` is final for its key, even if stock comes in; after a throw, a retry executes', async () => {
    const soldOut = new Error('sold out')
    const none: Take = () => Promise.resolve(false)
    const throwing: Take = () => Promise.reject(soldOut)
    const some: Take = async (tx, sku) => {
      const { stock } = await read(tx, sku).forUpdate().executeTakeFirstOrThrow()
      await write(tx, sku, stock - 1)
      return true
    }
    strictEqual((await sell(db, 'rejected', 'BACK', none)).kind, 'rejected')
    strictEqual(await failureOf(sell(db, 'thrown', 'BACK', throwing)), soldOut)
    await lastPiece('BACK')
    deepStrictEqual(await sell(db, 'rejected', 'BACK', some), {
      ok: false,
      kind: 'rejected',
      refusal: 'sold out',
      replayed: true,
    })
    strictEqual((await sell(db, 'thrown', 'BACK', some)).kind, 'executed')
  })
})
