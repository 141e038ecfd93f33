// A route that gives a fingerprint of the fields that decide, over HTTP, also while it changes.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import express, { type Request } from 'express'
import { createIdempotency, fingerprint, type Fingerprints } from 'oncely'
import { idempotent } from 'oncely/express'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { listening } from './conformance/adapters/parts.ts'
import { post, problemOf, type Seen, write } from './conformance/check.ts'
import type { Server } from './conformance/server.ts'
import { servers } from './servers.ts'

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect())
const serve = servers()

interface Order {
  readonly sku: string
  readonly amountMinor: number
  readonly currency?: string
  /** Differ with every retry. */
  readonly sentAt?: number
  readonly nonce?: string
}

type Rule = (order: Order) => Fingerprints

const before = ({ sku, amountMinor }: Order) => fingerprint({ sku, amountMinor }, { version: 1 })
// The default was added, and the old rule is still accepted.
const behind: Rule = (order) => {
  const { sku, amountMinor, currency = 'EUR' } = order
  return [fingerprint({ sku, amountMinor, currency }, { version: 2 }), before(order)]
}

/** One host of the service, as it is deployed. */
function deployed(rule: Rule): Promise<Server> {
  const once = idempotent(idempotency, {
    operation: 'orders.create',
    principal: () => ({ tenant: 't1', actor: 'u1' }),
    fingerprint: ({ body }: Request) => rule(body as Order),
  })
  const app = express()
  app.get('/lookup', once.lookup)
  app.post('/things/:id', express.json(), once, async (request, response) => {
    await write(once.of(request))
    response.status(201).json(request.body)
  })
  return serve(listening(app.listen(0, '127.0.0.1')))
}

const made = [201, null]
const replayed = [201, 'true']
const reused = [422, 'key_reused']
const endOf = (seen: Seen) => [
  seen.status,
  problemOf(seen)['code'] ?? seen.headers.get('idempotent-replayed'),
]

async function endsOf(
  key: string,
  requests: readonly (readonly [Server, Partial<Order>])[],
): Promise<unknown[]> {
  const ends: unknown[] = []
  for (const [server, more] of requests) {
    ends.push(endOf(await post(server, key, { sku: 'A', amountMinor: 100, ...more })))
  }
  return ends
}

describe('a fingerprint of the fields that decide', () => {
  it('A5: is the same for claim and retry, and what it leaves out means nothing', async () => {
    const server = await deployed(before)
    const first = await post(server, 'fields', { sku: 'A', amountMinor: 100, nonce: 'x' })
    deepStrictEqual(endOf(first), made)
    const again = await post(server, 'fields', { amountMinor: 100, sentAt: 2, sku: 'A' })
    deepStrictEqual(endOf(again), replayed)
    strictEqual(again.text, first.text)
    const others = [{ amountMinor: 101 }, { sku: 'B' }, { amountMinor: 100, nonce: 'x' }] as const
    deepStrictEqual(
      await endsOf(
        'fields',
        others.map((more) => [server, more]),
      ),
      [reused, reused, replayed],
    )
    strictEqual((await host.left('fields')).notes.length, 1)
  })
})

describe('a deploy that changes the rule', () => {
  it('A32: a retry of a request from before it is known, on old hosts and on new', async () => {
    const [old, young] = [await deployed(before), await deployed(behind)]
    const ends = await endsOf('old', [
      [old, { sentAt: 1, nonce: 'x' }],
      [young, { sentAt: 2, nonce: 'y' }],
      [young, { currency: 'EUR' }],
      [young, { amountMinor: 101 }],
      // It is rolled back.
      [old, { sentAt: 3 }],
    ])
    deepStrictEqual(ends, [made, replayed, replayed, reused, replayed])
    strictEqual((await host.left('old')).notes.length, 1)
  })

  it('A32: a request from behind it is known by what was filled in, and executed nowhere twice', async () => {
    const [old, young] = [await deployed(before), await deployed(behind)]
    const ends = await endsOf('new', [
      [young, { sentAt: 1 }],
      [young, { currency: 'EUR', sentAt: 2 }],
      [young, { currency: 'USD' }],
      // Who does not know the version yet cannot tell.
      [old, {}],
    ])
    deepStrictEqual(ends, [made, replayed, reused, reused])
    strictEqual((await host.left('new')).notes.length, 1)
  })
})
