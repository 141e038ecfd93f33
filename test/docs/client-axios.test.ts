import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { AxiosError, isCancel } from 'axios'
import { createIdempotentFetch, IdempotentFetchError } from 'oncely/client'

import { http, placeOrder } from '../../examples/clients/axios.ts'
import { answering, cut, hang, problem } from '../client/scripted-server.ts'
import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass, lose } = service
const send = createIdempotentFetch({ ...quick, maxAttempts: 3 })

describe('axios, whose fetch sends an intent', () => {
  it('[11] An order whose answer was lost is one order, and axios hands out the replay as any response', async () => {
    server.play(lose)
    const intent = send.intent()
    const placed = await placeOrder(intent, service.url, tea)
    ok(placed.orderNumber.startsWith('O-') && placed.again)
    deepStrictEqual(service.keys(), [intent.key, intent.key])
    strictEqual(await service.orders(), 1)
  })

  it('[12] What has no intent is sent once', async () => {
    server.play(pass)
    const { orderNumber } = await placeOrder(send.intent(), service.url, tea)
    const { data } = await http.get<{ orderNumber: string }>(`${service.url}/${orderNumber}`)
    strictEqual(data.orderNumber, orderNumber)
    server.play(cut)
    await rejects(http.post(service.url, tea), { code: 'ERR_NETWORK' })
    strictEqual(server.requests.length, 1)
  })

  it('[13] A refusal is an `AxiosError` with its response, as ever', async () => {
    server.play(pass)
    const error = await failureOf(
      placeOrder(send.intent(), service.url, { ...tea, amountMinor: 200_000 }),
    )
    ok(error instanceof AxiosError)
    deepStrictEqual([error.status, error.response?.data], [402, { code: 'credit_exceeded' }])
  })

  it('[14] `key_reused`, `key_expired` and `outcome_unknown` come as the `IdempotentFetchError` that they are', async () => {
    for (const [step, code] of [
      [problem(422, 'key_reused'), 'key_reused'],
      [problem(410, 'key_expired'), 'key_expired'],
      [cut, 'outcome_unknown'],
    ] as const) {
      server.play(step)
      const intent = send.intent()
      const error = await failureOf(placeOrder(intent, service.url, tea))
      ok(error instanceof IdempotentFetchError)
      deepStrictEqual(
        [error.code, error.key, error.since, error.attempts],
        [code, intent.key, intent.since, code === 'outcome_unknown' ? 3 : 1],
      )
    }
  })

  it('[15] The `timeout` of axios is that of all attempts together, and it is final, as its `signal` is', async () => {
    server.play(cut, hang)
    const options = { fetchOptions: { intent: send.intent() }, timeout: 1_000 }
    await rejects(http.post(service.url, tea, options), { code: 'ETIMEDOUT' })
    strictEqual(server.requests.length, 2)
    const leaving = new AbortController()
    const abort = () => {
      leaving.abort()
    }
    server.play(cut, abort, answering(200))
    ok(isCancel(await failureOf(placeOrder(send.intent(), service.url, tea, leaving.signal))))
    // Whatever was sent behind it would have come before this.
    await http.get(service.url)
    strictEqual(server.requests.length, 3)
  })
})
