import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import express from 'express'
import { createIdempotentFetch } from 'oncely/client'

import { cors } from '../../examples/clients/cors.ts'
import { ordersOnExpress } from '../../examples/orders/express.ts'
import type { OrdersDatabase } from '../../examples/orders/order.ts'
import { cut, problem, scriptedServer, type Step } from '../client/scripted-server.ts'
import { testDatabase } from '../support/database.ts'
import { quick, tea } from './orders-server.ts'

const database = testDatabase()
const server = scriptedServer()
const orders = ordersOnExpress(database.connect<OrdersDatabase>())
const bare = orders as unknown as Step
const pass = express().use(cors('https://shop.example')).use(orders) as unknown as Step

const post = (): RequestInit => ({
  method: 'POST',
  headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
  body: JSON.stringify(tea),
})
const names = (list: string | null) => String(list).toLowerCase().split(', ')

/** What a page may read without being allowed to: the CORS-safelisted response headers. */
const safe =
  'cache-control content-language content-length content-type expires last-modified pragma'

/** A fetch as a page has it: it reads what it may. */
async function pageFetch(input: string | URL, init: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(input, init)
  const exposed = headers.get('access-control-expose-headers')
  const readable = new Set([...safe.split(' '), ...names(exposed)])
  const left = [...headers].filter(([name]) => readable.has(name))
  return new Response(body, { status, headers: left })
}

describe('a page of another origin', () => {
  it('[37] Its preflight has to allow all that is sent: `Idempotency-Key`, and what else is not safelisted', async () => {
    server.play(pass)
    const preflight = await fetch(`${server.url}/orders`, { method: 'OPTIONS' })
    const sent: string[] = []
    const send = createIdempotentFetch({
      fetch: (input, init) => {
        sent.push(...new Headers(init.headers).keys())
        return pageFetch(input, init)
      },
    })
    strictEqual((await send(`${server.url}/orders`, post())).response.status, 201)
    deepStrictEqual(names(preflight.headers.get('access-control-allow-headers')), sent.toSorted())
    deepStrictEqual(
      ['origin', 'methods'].map((name) => preflight.headers.get(`access-control-allow-${name}`)),
      ['https://shop.example', 'POST'],
    )
  })

  it('[38] With them exposed a replay is told as one, and a refusal too can be read', async () => {
    server.play(pass)
    const send = createIdempotentFetch({ ...quick, fetch: pageFetch })
    const { key } = await send(`${server.url}/orders`, post())
    const again = await send.intent({ key }).send(`${server.url}/orders`, post())
    deepStrictEqual([again.replayed, again.response.headers.has('link')], [true, false])
    const nobody = { ...post(), headers: { 'content-type': 'application/json' } }
    const { response } = await send(`${server.url}/orders`, nobody)
    deepStrictEqual([response.status, await response.json()], [401, { code: 'unauthenticated' }])
  })

  it('[39] Without, `replayed` is always false and `Retry-After` is not seen, but an order is still one order', async () => {
    server.play(problem(503, 'unavailable', { 'retry-after': '3600' }), cut, bare)
    const send = createIdempotentFetch({ ...quick, fetch: pageFetch })
    const intent = send.intent()
    for (const attempts of [3, 1]) {
      const sent = await intent.send(`${server.url}/orders`, post())
      deepStrictEqual([sent.response.status, sent.replayed, sent.attempts], [201, false, attempts])
    }
    const placed = database.watcher.selectFrom('orders').select('order_number')
    const made = await placed.where('idempotency_key', '=', intent.key).execute()
    strictEqual(made.length, 1)
  })
})
