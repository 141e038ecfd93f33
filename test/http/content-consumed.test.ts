// A parser in front of the middleware: what two requests are the same by may be gone.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import express from 'express'
import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, nothing } from '../support/notes-host.ts'
import { behind } from './behind.ts'
import { type Seen, send } from './conformance/check.ts'
import type { Server } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

const heard: unknown[] = []
const servedBehind = behind(createIdempotency(host.connect()), (thrown) => heard.push(thrown))

const FORM = 'application/x-www-form-urlencoded'
const submit = (server: Server, key: string, body = 'sku=A', headers = {}) =>
  send(server, { key: `"${key}"`, type: FORM, body, headers })
const isReplayed = ({ headers }: Seen) => headers.get('idempotent-replayed') === 'true'

const form = express.urlencoded({ extended: false })
const consuming = {
  // As a parser of forms with files does, which keeps them somewhere else.
  Express: () =>
    servedBehind.express(
      (request, _response, next) =>
        void request.toArray().then(() => {
          next()
        }),
    ),
  'node:http': () => servedBehind.node((request) => request.toArray()),
  'Hono, by what keeps nothing for it': () => servedBehind.hono((c) => c.req.raw.text()),
  'fetch, at once': () => servedBehind.fetch((request) => request.text()),
  // Which leaves it as if there had been no content.
  'fetch, as a stream': () =>
    servedBehind.fetch(async ({ body }) => body?.pipeTo(new WritableStream())),
}

describe('a content that is read in front', () => {
  for (const [how, start] of Object.entries(consuming)) {
    it(`and not kept is content_consumed: 500 that says nothing, and nothing runs: ${how}`, async () => {
      const server = await serve(start())
      for (const body of ['sku=A', 'sku=B']) {
        heard.length = 0
        const seen = await submit(server, how, body)
        deepStrictEqual([seen.status, seen.text, heard], [500, '', ['content_consumed']])
      }
      deepStrictEqual(await host.left(how), nothing)
    })
  }

  it('by a parser that leaves it as it is of another media type: is read by the middleware', async () => {
    const server = await serve(servedBehind.express(express.json()))
    strictEqual((await submit(server, 'left')).status, 201)
    strictEqual((await submit(server, 'left', 'sku=B')).status, 422)
  })

  it('and kept as a text or as octets: is the same as if it had not been read', async () => {
    const unread = await serve(servedBehind.fetch(() => Promise.resolve()))
    strictEqual((await submit(unread, 'kept')).status, 201)
    for (const start of [
      () => servedBehind.express(express.text({ type: FORM })),
      () => servedBehind.express(express.raw({ type: FORM })),
      () => servedBehind.hono((c) => c.req.parseBody()),
    ]) {
      const server = await serve(start())
      strictEqual(isReplayed(await submit(server, 'kept')), true)
      strictEqual((await submit(server, 'kept', 'sku=B')).status, 422)
    }
    strictEqual((await host.left('kept')).notes.length, 1)
  })

  it('and kept as a text that has lost its octets is content_consumed', async () => {
    for (const start of [
      () => servedBehind.express(express.text({ type: FORM })),
      () => servedBehind.hono((c) => c.req.text()),
    ]) {
      heard.length = 0
      const server = await serve(start())
      const sent = { key: '"lossy"', type: FORM, body: Uint8Array.of(255) }
      strictEqual((await send(server, sent)).status, 500)
      deepStrictEqual(heard, ['content_consumed'])
    }
  })

  it('on a route that gives a fingerprint: is the same by that', async () => {
    const byBody = {
      fingerprint: ({ body }: express.Request) =>
        fingerprint({ ...(body as object) }, { version: 1 }),
    }
    const server = await serve(servedBehind.express(form, byBody))
    strictEqual((await submit(server, 'given', 'sku=A&n=1')).text, '{"sku":"A","n":"1"}')
    strictEqual(isReplayed(await submit(server, 'given', 'n=1&sku=A')), true)
    strictEqual((await submit(server, 'given', 'sku=A&n=2')).status, 422)
    strictEqual((await host.left('given')).notes.length, 1)
  })

  it('on a route of fetch that gives a fingerprint: likewise', async () => {
    const byHeader = {
      fingerprint: ({ headers }: Request) => fingerprint(headers.get('x-sku'), { version: 1 }),
    }
    const server = await serve(servedBehind.fetch((request) => request.text(), byHeader))
    const a = { 'x-sku': 'A' }
    strictEqual((await submit(server, 'fetch', 'sku=A', a)).status, 201)
    strictEqual(isReplayed(await submit(server, 'fetch', 'sku=A', a)), true)
    strictEqual((await submit(server, 'fetch', 'sku=B', { 'x-sku': 'B' })).status, 422)
  })
})
