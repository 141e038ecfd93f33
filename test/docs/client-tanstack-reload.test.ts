import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'

import {
  dehydrate,
  type DehydratedState,
  hydrate,
  MutationObserver,
  onlineManager,
  QueryClient,
} from '@tanstack/query-core'
import { createIdempotentFetch } from 'oncely/client'

import {
  dehydrating,
  type PlaceOrder,
  placing,
  resume,
} from '../../examples/clients/tanstack-query.ts'
import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { ordersServer, quick, tea } from './orders-server.ts'

const database = testDatabase()
const service = ordersServer(database)
const { server, pass } = service
const send = createIdempotentFetch(quick)
const wanted = (): PlaceOrder => ({ intent: { key: send.intent().key }, order: tea })
/** What a reload makes of it. */
const stored = (state: DehydratedState) => JSON.parse(JSON.stringify(state)) as DehydratedState

afterEach(() => {
  onlineManager.setOnline(true)
})

describe('a mutation over a reload', () => {
  /** As the next page starts. */
  function reloaded(state: DehydratedState): QueryClient {
    const client = new QueryClient()
    const options = placing(send, service.url)
    client.setMutationDefaults(options.mutationKey, options)
    hydrate(client, state)
    return client
  }

  it('[28] One that was paused offline is resumed with its key', async () => {
    server.play(pass)
    onlineManager.setOnline(false)
    const before = new QueryClient()
    const variables = wanted()
    void beside(new MutationObserver(before, placing(send, service.url)).mutate(variables))
    // The first page has come to its pause, and stays there.
    await setImmediate()
    const state = stored(dehydrate(before))
    deepStrictEqual([state.mutations.length, server.requests.length], [1, 0])

    onlineManager.setOnline(true)
    await reloaded(state).resumePausedMutations()
    deepStrictEqual(service.keys(), [variables.intent.key])
    strictEqual(await service.orders(), 1)
  })

  /** Leaves a page whose order is committed and not answered yet. */
  async function leftAmid(variables: PlaceOrder) {
    const committed = Promise.withResolvers<undefined>()
    const answered = Promise.withResolvers<undefined>()
    const slow = createIdempotentFetch({
      async fetch(input, init) {
        const response = await fetch(input, init)
        committed.resolve(undefined)
        await answered.promise
        return response
      },
    })
    const before = new QueryClient()
    const call = new MutationObserver(before, placing(slow, service.url)).mutate(variables)
    await committed.promise
    return {
      before,
      end: async () => {
        answered.resolve(undefined)
        await call
      },
    }
  }

  it('[29] One that was under way is left out by `dehydrate`, and by `resumePausedMutations`', async () => {
    server.play(pass)
    const { before, end } = await leftAmid(wanted())
    strictEqual(dehydrate(before).mutations.length, 0)
    const state = stored(dehydrate(before, dehydrating))
    strictEqual(state.mutations.length, 1)
    await reloaded(state).resumePausedMutations()
    strictEqual(server.requests.length, 1)
    await end()
  })

  it('[30] With `dehydrating` and `resume` it is sent again with its key, and is one order', async () => {
    server.play(pass)
    const { before, end } = await leftAmid(wanted())
    const state = stored(dehydrate(before, dehydrating))
    const [resumed] = await resume(reloaded(state))
    strictEqual(resumed?.status, 'fulfilled')
    deepStrictEqual([service.keys().length, new Set(service.keys()).size], [2, 1])
    strictEqual(await service.orders(), 1)
    await end()
  })
})
