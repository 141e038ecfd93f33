import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'

import { MutationObserver, QueryClient } from '@tanstack/query-core'
import { createIdempotentFetch, IdempotentFetchError } from 'oncely/client'

import { type PlaceOrder, placing } from '../../examples/clients/tanstack-query.ts'
import { cut } from '../client/scripted-server.ts'
import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass, lose } = service
const send = createIdempotentFetch({ ...quick, maxAttempts: 2 })
const wanted = (): PlaceOrder => ({ intent: { key: send.intent().key }, order: tea })
const postBy = async (key: string) => {
  const headers = { 'content-type': 'application/json', 'idempotency-key': `"${key}"` }
  await fetch(service.url, { method: 'POST', headers, body: JSON.stringify(tea) })
}
const retried = { retry: 3, retryDelay: 0 }

describe('a mutation', () => {
  it('[23] A key that is made inside `mutationFn` is another one for each retry: two orders', async () => {
    server.play(lose, pass)
    const mutationFn = () => postBy(randomUUID())
    await new MutationObserver(new QueryClient(), { ...retried, mutationFn }).mutate()
    deepStrictEqual([new Set(service.keys()).size, await service.orders()], [2, 2])
  })

  it('[24] A key in the variables is the same for each, also where TanStack retries a bare `fetch`', async () => {
    server.play(lose, pass)
    const mutationFn = (key: string) => postBy(key)
    await new MutationObserver(new QueryClient(), { ...retried, mutationFn }).mutate(randomUUID())
    deepStrictEqual([service.keys().length, new Set(service.keys()).size], [2, 1])
    strictEqual(await service.orders(), 1)
  })

  it('[25] With `retry: false` a lost answer is one run of `mutationFn`, and one order', async () => {
    server.play(lose)
    const observer = new MutationObserver(new QueryClient(), placing(send, service.url))
    let runs = 0
    const { mutationFn } = observer.options
    observer.setOptions({
      ...observer.options,
      mutationFn: (variables, context) => {
        runs += 1
        return Promise.resolve(mutationFn?.(variables, context)) as never
      },
    })
    const { orderNumber } = await observer.mutate(wanted())
    ok(orderNumber.startsWith('O-'))
    deepStrictEqual([runs, service.keys().length, await service.orders()], [1, 2, 1])
  })

  it('[26] The error has the `key` and the `since` to call `mutate` with again, for the same order', async () => {
    server.play(lose, cut, pass)
    const observer = new MutationObserver(new QueryClient(), placing(send, service.url))
    const variables = wanted()
    const error = await failureOf(observer.mutate(variables))
    ok(error instanceof IdempotentFetchError && error.code === 'outcome_unknown')
    const { key, since } = error
    await observer.mutate({ ...variables, intent: { key, since } })
    deepStrictEqual([service.keys().length, await service.orders()], [3, 1])
    strictEqual(new Set(service.keys()).size, 1)
  })

  it('[27] A refusal is an error of the mutation, which has the response as its cause', async () => {
    server.play(pass)
    const observer = new MutationObserver(new QueryClient(), placing(send, service.url))
    const order = { ...tea, amountMinor: 200_000 }
    await rejects(observer.mutate({ ...wanted(), order }), { message: 'refused: 402' })
    const { cause } = observer.getCurrentResult().error as { cause: Response }
    deepStrictEqual(await cause.json(), { code: 'credit_exceeded' })
  })
})
