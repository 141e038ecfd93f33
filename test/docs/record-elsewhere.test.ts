import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { PATIENCE_MS } from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { one, scope, type ShopDatabase, shopOn, writeOrder } from './shop.ts'

interface ElsewhereDatabase {
  answers: { key: string; answer: string | null }
}

/** A caller with a connection to each of the two databases. */
interface Caller {
  readonly db: Kysely<ShopDatabase>
  readonly elsewhere: Kysely<ElsewhereDatabase>
}

const home = testDatabase()
const shop = shopOn(home)
const away = testDatabase()
const proxies = [wireProxy(home.url), wireProxy(away.url)] as const
let created: Promise<unknown> | undefined
beforeEach(async () => {
  created ??= sql`create table public.answers (key text primary key, answer text)`.execute(
    away.watcher,
  )
  await created
})

/** Somebody who calls, and calls no more after a crash, which cuts every connection. */
const caller = (): Caller => ({
  db: shop.connect({ connectionString: proxies[0].url() }),
  elsewhere: away.connect({ connectionString: proxies[1].url(), schema: null }),
})
const crash = () => {
  for (const proxy of proxies) proxy.cut()
}
const lives = () => undefined
/** Until the server has noticed the crash, the key is not free. */
const patient = { lockTimeoutMs: PATIENCE_MS }

/** Two commits, the record's before the write's. */
async function recordFirst({ db, elsewhere }: Caller, key: string, between: () => void = lives) {
  const { numInsertedOrUpdatedRows: taken } = await elsewhere
    .insertInto('answers')
    .values({ key, answer: null })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirstOrThrow()
  if (taken === 0n) return (await answerOf(elsewhere, key)) ?? 'in progress'
  const { number: answer } = await db.transaction().execute(async (tx) => {
    const order = await writeOrder(tx, key)
    between()
    return order
  })
  await elsewhere.updateTable('answers').set({ answer }).where('key', '=', key).execute()
  return answer
}

/** Two commits, the write's before the record's. */
async function writeFirst({ db, elsewhere }: Caller, key: string, between: () => void = lives) {
  return elsewhere.transaction().execute(async (record) => {
    const known = await answerOf(record, key)
    if (known !== undefined) return known
    const { number: answer } = await writeOrder(db, key)
    between()
    await record.insertInto('answers').values({ key, answer }).execute()
    return answer
  })
}

async function answerOf(elsewhere: Caller['elsewhere'], key: string) {
  const row = await elsewhere
    .selectFrom('answers')
    .select('answer')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.answer ?? undefined
}

describe('a crash and the record', () => {
  it('[22] A record in the same transaction is committed or lost together with the write', async () => {
    const call = (after: () => void = lives) =>
      createIdempotency(caller().db, patient).withIdempotency(scope, 'SAME', one, async (tx) => {
        const order = await writeOrder(tx, 'SAME')
        after()
        return order
      })
    const left = async () => [(await shop.orders('SAME')).length, await shop.records('SAME')]
    strictEqual((await failureOf(call(crash))) instanceof Error, true)
    deepStrictEqual(await left(), [0, 0])
    proxies[0].meddle('lost before')
    strictEqual((await failureOf(call())) instanceof Error, true)
    deepStrictEqual(await left(), [0, 0])
    proxies[0].meddle('lost behind')
    strictEqual((await call()).kind, 'executed')
    deepStrictEqual(await left(), [1, 1])
    strictEqual((await call()).kind, 'replayed')
    deepStrictEqual(await left(), [1, 1])
  })

  it('[23] a crash between the two leaves a key that is taken for ever, and nothing written', async () => {
    const answer = await recordFirst(caller(), 'R-1')
    deepStrictEqual(await shop.orders('R-1'), [answer])
    strictEqual(await recordFirst(caller(), 'R-1'), answer)

    strictEqual((await failureOf(recordFirst(caller(), 'R-2', crash))) instanceof Error, true)
    strictEqual(await recordFirst(caller(), 'R-2'), 'in progress')
    strictEqual(await recordFirst(caller(), 'R-2'), 'in progress')
    deepStrictEqual(await shop.orders('R-2'), [])
  })

  it('[24] a crash between the two lets the retry execute a second time', async () => {
    const answer = await writeFirst(caller(), 'W-1')
    strictEqual(await writeFirst(caller(), 'W-1'), answer)
    deepStrictEqual(await shop.orders('W-1'), [answer])

    strictEqual((await failureOf(writeFirst(caller(), 'W-2', crash))) instanceof Error, true)
    strictEqual((await shop.orders('W-2')).length, 1)
    await writeFirst(caller(), 'W-2')
    strictEqual((await shop.orders('W-2')).length, 2)
  })
})
