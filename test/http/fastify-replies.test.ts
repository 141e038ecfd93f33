// Whatever a handler of Fastify replies by is stored and replayed.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

import type { FastifyServerOptions } from 'fastify'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost } from '../support/notes-host.ts'
import { fastifyRoutes, type Handle, replayed, sender } from './fastify-routes.ts'

const database = testDatabase()
const host = notesHost(database)
const { instance, route } = fastifyRoutes(createIdempotency(host.connect()))
const notes = async (key: string) => (await host.left(key)).notes.length

describe('a reply of Fastify', () => {
  it('takes a hijacked reply', async () => {
    const app = instance()
    route(app, (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(201, { location: '/things/7' })
      reply.raw.write('by ')
      reply.raw.end('hand')
    })
    const post = await sender(app, 'hijacked')
    const seen = [await post(), await post()]
    for (const one of seen) {
      deepStrictEqual(
        [one.status, await one.text(), one.headers.get('location')],
        [201, 'by hand', '/things/7'],
      )
    }
    deepStrictEqual(seen.map(replayed), [null, 'true'])
    strictEqual(await notes('hijacked'), 1)
  })

  it('takes what is sent by a callback, a Response, and streams of both kinds', async () => {
    const handlers: Record<string, Handle> = {
      callback: (_request, reply) => {
        setImmediate(() => void reply.code(201).send({ a: 1 }))
        return reply
      },
      response: () => Response.json({ a: 1 }, { status: 201 }),
      readable: (_request, reply) =>
        reply
          .code(201)
          .type('application/json')
          .send(Readable.from(['{"a"', ':1}'])),
      web: (_request, reply) =>
        reply
          .code(201)
          .type('application/json')
          .send(new Blob(['{"a":1}']).stream()),
    }
    for (const [name, handle] of Object.entries(handlers)) {
      const app = instance()
      route(app, handle)
      const post = await sender(app, name)
      for (const mark of [null, 'true']) {
        const seen = await post()
        deepStrictEqual([seen.status, await seen.text()], [201, '{"a":1}'], name)
        match(String(seen.headers.get('content-type')), /^application\/json/)
        strictEqual(replayed(seen), mark, name)
      }
      strictEqual(await notes(name), 1)
    }
  })

  it('fails where a stream does, and its key is free', async () => {
    const app = instance()
    let runs = 0
    route(app, (_request, reply) => {
      runs += 1
      if (runs > 1) return reply.code(201).send('made')
      const stream = Readable.from(
        (function* () {
          yield 'half'
          throw new Error('own')
        })(),
      )
      return reply.type('text/plain').header('x-half', 'yes').send(stream)
    })
    const post = await sender(app, 'broken-stream')
    const [first, second] = [await post(), await post()]
    deepStrictEqual([first.status, first.headers.get('x-half')], [500, null])
    deepStrictEqual([second.status, await second.text()], [201, 'made'])
    strictEqual(await notes('broken-stream'), 1)
  })

  it('is stored though it is empty, and its client has hung up', async () => {
    const app = instance()
    const [stop, gone] = [gate(), gate()]
    app.server.once('connection', (socket) => socket.once('close', () => void gone.pass()))
    route(app, async (_request, reply) => {
      await stop.pass()
      void reply.code(202)
    })
    const post = await sender(app, 'gone')
    const { port } = app.server.address() as AddressInfo
    const headers = { 'idempotency-key': 'gone', 'content-type': 'application/json' }
    const sent = httpRequest({ host: '127.0.0.1', port, method: 'POST', headers })
    sent.on('error', () => undefined)
    sent.end('{}')
    await stop.reached
    sent.destroy()
    await gone.reached
    stop.open()
    let seen = await post()
    while (seen.status === 409) seen = await post()
    deepStrictEqual([seen.status, replayed(seen)], [202, 'true'])
    strictEqual(await notes('gone'), 1)
  })

  it('is served the same by inject, and by HTTP/2', async () => {
    const app = instance()
    route(app, (_request, reply) => reply.code(201).send({ a: 1 }))
    const headers = { 'idempotency-key': 'injected' }
    const sent = { method: 'POST', url: '/', headers, payload: {} } as const
    const injected = [await app.inject(sent), await app.inject(sent)]
    deepStrictEqual(
      injected.map((one) => [one.statusCode, one.body, one.headers['idempotent-replayed']]),
      [
        [201, '{"a":1}', undefined],
        [201, '{"a":1}', 'true'],
      ],
    )
    strictEqual(await notes('injected'), 1)

    const second = instance({ http2: true } as FastifyServerOptions)
    route(second, (_request, reply) => reply.code(201).send({ a: 1 }))
    const session = connect(await second.listen({ port: 0, host: '127.0.0.1' }))
    const over = async (body: string) => {
      const named = { 'idempotency-key': 'http2', 'content-type': 'application/json' }
      const stream = session.request({ ':method': 'POST', ':path': '/', ...named })
      const [head, content] = await Promise.all([
        new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve)),
        text(stream.end(body)),
      ])
      return [head[':status'], head['idempotent-replayed'], content]
    }
    try {
      deepStrictEqual(await over('{}'), [201, undefined, '{"a":1}'])
      deepStrictEqual(await over('{}'), [201, 'true', '{"a":1}'])
      strictEqual((await over('{"b":1}'))[0], 422)
    } finally {
      session.close()
    }
    strictEqual(await notes('http2'), 1)
  })
})
