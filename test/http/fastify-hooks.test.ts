// What hooks of Fastify do in front of a route and behind it.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

import compress from '@fastify/compress'
import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { fastifyRoutes, type Given, replayed, sender } from './fastify-routes.ts'

const database = testDatabase()
const host = notesHost(database)
const { instance, route } = fastifyRoutes(createIdempotency(host.connect()))
const notes = async (key: string) => (await host.left(key)).notes.length

describe('hooks of Fastify', () => {
  it('stores what is compressed behind the handler as it was before', async () => {
    const app = instance()
    await app.register(compress, { threshold: 0 })
    route(app, (_request, reply) => reply.code(201).send({ text: 'x'.repeat(2_000) }))
    const post = await sender(app, 'compress')
    for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
      const key = { 'idempotency-key': coding, 'accept-encoding': coding }
      const [first, second] = [await post(key), await post(key)]
      strictEqual(first.headers.get('content-encoding'), coding)
      strictEqual(second.headers.get('content-encoding'), null)
      const texts = [await first.text(), await second.text()]
      deepStrictEqual([texts[0], replayed(second)], [texts[1], 'true'])
    }
  })

  it('refuses what is not in the coding that it says, and one that nobody knows', async () => {
    const app = instance()
    const errors: unknown[] = []
    app.setErrorHandler((error, _request, reply) => {
      errors.push((error as { code?: unknown }).code)
      return reply.code(500).send('failed')
    })
    route(app, (request, reply) =>
      reply.header('content-encoding', request.headers['x-coding']).send('plain'),
    )
    const post = await sender(app, 'codings')
    for (const coding of ['gzip', 'compress']) {
      const seen = await post({ 'x-coding': coding })
      deepStrictEqual([seen.status, seen.headers.get('content-encoding')], [500, null])
    }
    deepStrictEqual(errors, ['invalid_response', 'invalid_response'])
    strictEqual(await notes('codings'), 0)
  })

  it('leaves hooks what is theirs: in front for every answer, behind once for what is stored', async () => {
    const app = instance()
    const ended: (number | undefined)[] = []
    await app.register(cors, { origin: 'https://shop.example', exposedHeaders: ['x-total'] })
    app.addHook('preSerialization', (_request, _reply, payload, done) => {
      done(null, { data: payload })
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      void reply.header('x-length', String(payload).length)
      done(null, `${String(payload)}\n`)
    })
    app.addHook('onResponse', (_request, reply, done) => {
      ended.push(reply.statusCode)
      done()
    })
    route(app, (_request, reply) => reply.code(201).send({ a: 1 }), { exposeHeaders: true })
    const post = await sender(app, 'hooks')
    const origin = { origin: 'https://shop.example' }
    const seen = [await post(origin), await post(origin), await post(origin, '{"b":2}')]
    for (const { headers } of seen) {
      strictEqual(headers.get('access-control-allow-origin'), 'https://shop.example')
      match(String(headers.get('access-control-expose-headers')), /x-total.*Idempotent-Replayed/)
    }
    const texts = await Promise.all(seen.map((one) => one.text()))
    deepStrictEqual(texts.slice(0, 2), ['{"data":{"a":1}}\n', '{"data":{"a":1}}\n'])
    deepStrictEqual(ended, [201, 201, 422])
  })

  it('is told apart by what a schema has validated and filled in', async () => {
    const app = instance()
    const body = { type: 'object', properties: { count: { type: 'integer', default: 1 } } }
    const chosen = { fingerprint: ({ body }: FastifyRequest) => fingerprint(body, { version: 1 }) }
    route(app, (request, reply) => reply.send(request.body), chosen, { body })
    const post = await sender(app, 'schema')
    strictEqual((await post({}, '{"count":"x"}')).status, 400)
    const seen = [
      await post({}, '{}'),
      await post({}, '{"count":1}'),
      await post({}, '{"count":2}'),
    ]
    deepStrictEqual(
      seen.map((one) => [one.status, replayed(one)]),
      [
        [200, null],
        [200, 'true'],
        [422, null],
      ],
    )
  })

  it('have to leave what decides of a content that the handler reads by itself', async () => {
    const codes: unknown[] = []
    const started = (given: Given, hook: 'preHandler' | 'onRequest') => {
      const app = instance()
      app.setErrorHandler((error, _request, reply) => {
        codes.push((error as { code?: unknown }).code)
        return reply.code(500).send('failed')
      })
      app.addContentTypeParser('application/octet-stream', (_request, payload, done) => {
        done(null, payload)
      })
      const once = route(instance(), () => 'unused', given)
      app.post('/', { [hook]: once }, async (request) => text(request.body as Readable))
      return app
    }
    const octets = { 'content-type': 'application/octet-stream' }
    const alone = await sender(started({}, 'preHandler'), 'read-alone')
    const early = await sender(started({}, 'onRequest'), 'read-early')
    const given = { fingerprint: () => fingerprint('any', { version: 1 }) }
    const told = await sender(started(given, 'preHandler'), 'read-told')
    const answers = [await alone(octets), await early(), await told(octets, 'octets')]
    deepStrictEqual(
      answers.map(({ status }) => status),
      [500, 500, 200],
    )
    deepStrictEqual(codes, ['content_unread', 'content_unread'])
    const again = await told(octets, 'octets')
    deepStrictEqual([await again.text(), replayed(again)], ['octets', 'true'])
  })
})
