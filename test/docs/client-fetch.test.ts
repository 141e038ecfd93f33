import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'
import { createIdempotentFetch } from 'oncely/client'

import { orderForm } from '../../examples/clients/order-form.ts'
import { placeOrder } from '../../examples/clients/place-order.ts'
import { cut } from '../client/scripted-server.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const db = database.connect()
const service = ordersServer(database)
const { server, pass, lose } = service
const send = createIdempotentFetch({ ...quick, maxAttempts: 2 })

describe('one key for one intent', () => {
  it('[1] The key is there before anything is sent, and every attempt carries it', async () => {
    server.play(cut, pass)
    const { key } = send.intent()
    const told = await placeOrder(send.intent({ key }), service.url, tea)
    deepStrictEqual([told.kind, service.keys()], ['done', [key, key]])
  })

  it('[2] Two clicks that send one intent are one order', async () => {
    server.play(pass)
    const click = orderForm(service.url)
    const clicks = [click(tea), click(tea)]
    const [first, second] = (await Promise.all(clicks)) as { order: unknown; again: boolean }[]
    deepStrictEqual(first?.order, second?.order)
    deepStrictEqual([first?.again, second?.again].toSorted(), [false, true])
    strictEqual(await service.orders(), 1)
  })

  it('[3] Two intents are two orders, even if they ask for the same', async () => {
    server.play(pass)
    for (const click of [orderForm(service.url), orderForm(service.url)]) {
      strictEqual((await click(tea)).kind, 'done')
    }
    strictEqual(await service.orders(), 2)
  })
})

describe('what to tell the person', () => {
  it('[4] An order whose answer was lost is done: the retry brings the first answer', async () => {
    server.play(lose)
    const told = await placeOrder(send.intent(), service.url, tea)
    deepStrictEqual([told.kind, 'again' in told && told.again], ['done', true])
    deepStrictEqual([service.keys().length, await service.orders()], [2, 1])
  })

  it('[5] A refusal that is final is the same for every retry', async () => {
    server.play(pass)
    const intent = send.intent()
    const dear = { ...tea, amountMinor: 200_000 }
    const refused = { kind: 'refused', status: 402, reason: { code: 'credit_exceeded' } }
    for (const _ of [1, 2]) deepStrictEqual(await placeOrder(intent, service.url, dear), refused)
    strictEqual(await service.orders(), 0)
  })

  it('[6] After one that is not, such as a 401, the same intent may be sent again', async () => {
    server.play((request, response) => {
      request.headers.authorization = 'Bearer nobody'
      return pass(request, response)
    }, pass)
    const click = orderForm(service.url)
    deepStrictEqual([(await click(tea)).kind, (await click(tea)).kind], ['refused', 'done'])
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [1, 1])
  })

  it('[7] A key that is sent with another order is `key_reused`, and nothing is done for that one', async () => {
    server.play(pass)
    const intent = send.intent()
    await placeOrder(intent, service.url, tea)
    const told = await placeOrder(intent, service.url, { ...tea, amountMinor: 101 })
    deepStrictEqual([told.kind, await service.orders()], ['key_reused', 1])
  })

  it('[8] Past the replay window it is `key_expired`, nothing runs, and `resource` says what was made', async () => {
    server.play(pass)
    const intent = send.intent()
    const told = await placeOrder(intent, service.url, tea)
    const id = 'order' in told && (told.order as { orderNumber: string }).orderNumber
    const scope = { tenant: 'acme', actor: 'alice', operation: 'orders.create' }
    await createIdempotency(db).expire(scope, intent.key)
    const late = await placeOrder(intent, service.url, tea)
    const { resource } = ('problem' in late && late.problem) as { resource: unknown }
    deepStrictEqual([late.kind, resource], ['key_expired', { type: 'order', id }])
    strictEqual(await service.orders(), 1)
  })

  it('[9] The same intent, sent later, ends in the truth', async () => {
    server.play(lose, cut, pass)
    const intent = send.intent()
    const told = await placeOrder(intent, service.url, tea)
    ok(told.kind === 'outcome_unknown')
    strictEqual(await service.orders(), 1)
    // As another program would, which has kept the key and the time.
    const later = await placeOrder(send.intent(told.kept), service.url, tea)
    deepStrictEqual([later.kind, 'again' in later && later.again], ['done', true])
    strictEqual(await service.orders(), 1)
  })

  it('[10] A `signal` of yours ends the call at once, and the order may be there all the same', async () => {
    const leaving = new AbortController()
    server.play(lose, () => {
      leaving.abort(new Error('left the page'))
    })
    const { signal } = leaving
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(tea), signal }
    await rejects(send.intent().send(service.url, sent), { message: 'left the page' })
    deepStrictEqual([service.keys().length, await service.orders()], [2, 1])
  })
})
