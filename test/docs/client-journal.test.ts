import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { keptOrders, type Store } from '../../examples/clients/journal.ts'
import { cut } from '../client/scripted-server.ts'
import { testDatabase } from '../support/database.ts'
import { mapStore } from './map-store.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass, lose } = service

/** A page, or the program that is started once more. */
const page = (store: Store, more: { user?: string; retentionMs?: number } = {}) => {
  const { user = 'alice', ...options } = more
  return keptOrders({ store, url: service.url, user }, { ...quick, maxAttempts: 2, ...options })
}

describe('a journal', () => {
  it('[31] An order is in the store before it is sent, and out of it once it is answered', async () => {
    const store = mapStore()
    const seen: number[] = []
    server.play((request, response) => {
      seen.push(store.length)
      return pass(request, response)
    })
    const { response } = await page(store).place(tea)
    deepStrictEqual([response.status, seen, store.length], [201, [1], 0])
  })

  it('[32] What the first page left open the second one sends with the same key, and it is one order', async () => {
    const store = mapStore()
    server.play(lose, cut, pass)
    await rejects(page(store).place(tea), { code: 'outcome_unknown' })
    // The first page is gone.
    const second = page(store)
    const [open, ...others] = second.open()
    ok(open?.since)
    deepStrictEqual([open.order, others], [tea, []])
    const { response, replayed, key } = await second.sendKept(open)
    deepStrictEqual([response.status, replayed, key], [201, true, open.key])
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [1, 1])
    deepStrictEqual(second.open(), [])
  })

  it('[33] Two pages that send it at once are one order', async () => {
    const store = mapStore()
    server.play(cut, cut, pass)
    await rejects(page(store).place(tea), { code: 'outcome_unknown' })
    const sent = [page(store), page(store)].flatMap((each) => each.open().map(each.sendKept))
    const outcomes = await Promise.all(sent)
    deepStrictEqual(outcomes.map(({ replayed }) => replayed).toSorted(), [false, true])
    deepStrictEqual([await service.orders(), store.length], [1, 0])
  })

  it('[34] What the store cannot take is not sent', async () => {
    server.play(pass)
    const full = mapStore()
    full.setItem = () => {
      throw new Error('QuotaExceededError')
    }
    const orders = page(full)
    await rejects(orders.sendKept({ key: 'kept', order: tea }), { message: 'QuotaExceededError' })
    strictEqual(server.requests.length, 0)
  })

  it('[35] A key counts for its caller alone: sent by another person, it is an order of theirs', async () => {
    const store = mapStore()
    server.play(lose, cut, (request, response) => {
      request.headers.authorization = 'Bearer bob'
      return pass(request, response)
    })
    const alice = page(store)
    await rejects(alice.place(tea), { code: 'outcome_unknown' })
    deepStrictEqual(page(store, { user: 'bob' }).open(), [])
    // As a store would that does not say whose they are.
    for (const kept of alice.open()) await alice.sendKept(kept)
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [1, 2])
  })

  it('[36] What was first sent longer ago than `retentionMs` is not sent any more, and stays in the store', async () => {
    const store = mapStore()
    server.play(pass)
    const late = page(store, { retentionMs: 3_600_000 })
    const kept = { key: 'long ago', since: Date.now() - 3_700_000, order: tea }
    store.setItem('order of alice long ago', JSON.stringify(kept))
    await rejects(late.sendKept(kept), { code: 'retention_exceeded', attempts: 0 })
    deepStrictEqual([server.requests.length, late.open()], [0, [kept]])
  })
})
