// However a handler of Fastify fails, it has not succeeded, and somebody answers.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'

import type { FastifyReply } from 'fastify'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { fastifyRoutes, type Handle, replayed, sender } from './fastify-routes.ts'

const database = testDatabase()
const host = notesHost(database)
const { instance, route } = fastifyRoutes(createIdempotency(host.connect()))
const notes = async (key: string) => (await host.left(key)).notes.length

/** What throws what it is given. */
const throwing = (thrown: unknown) => () => {
  throw thrown as Error
}

const NO_CREDIT = { statusCode: 402, message: 'no credit' }

describe('an error of Fastify that an error handler makes a success of', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const handlers: Record<string, Handle> = {
    'thrown-text': throwing('own'),
    'thrown-object': throwing(NO_CREDIT),
    serializer: (_request, reply) => reply.code(201).send(circular),
    'stream-first': (_request, reply) =>
      reply.send(
        new Readable({
          read() {
            this.destroy(new Error('own'))
          },
        }),
      ),
    'on-send': (_request, reply) => reply.code(201).header('x-fail', 'on-send').send('made'),
    'pre-serialization': (_request, reply) =>
      reply.code(201).header('x-fail', 'pre-serialization').send({}),
  }
  for (const [name, handle] of Object.entries(handlers)) {
    it(`is not stored: ${name}`, async () => {
      const app = instance()
      const failureAt = (hook: string, reply: FastifyReply) =>
        reply.getHeader('x-fail') === hook ? new Error('own') : null
      app.addHook('onSend', (_request, reply, payload, done) => {
        done(failureAt('on-send', reply) as null, payload)
      })
      app.addHook('preSerialization', (_request, reply, payload, done) => {
        done(failureAt('pre-serialization', reply) as null, payload)
      })
      app.setErrorHandler((_error, _request, reply) => {
        void reply.removeHeader('x-fail')
        return reply.code(200).send('well')
      })
      route(app, handle)
      const post = await sender(app, name)
      for (const seen of [await post(), await post()]) {
        deepStrictEqual([seen.status, await seen.text(), replayed(seen)], [200, 'well', null])
      }
      strictEqual(await notes(name), 0)
    })
  }

  it('is final where it was declared, whatever it is, and by its own call alone', async () => {
    const app = instance()
    app.setErrorHandler((_error, request, reply) =>
      reply.code(request.headers['x-declares'] ? 402 : 200).send('told'),
    )
    const once = route(app, (request) => {
      const { context } = once.of(request)
      throw (request.headers['x-declares']
        ? context.reject(NO_CREDIT)
        : NO_CREDIT) as unknown as Error
    })
    const post = await sender(app, 'declared')
    const declares = { 'x-declares': '1' }
    const [first, second] = [await post(declares), await post(declares)]
    deepStrictEqual([first.status, replayed(first)], [402, null])
    deepStrictEqual([second.status, replayed(second)], [402, 'true'])
    const other = { 'idempotency-key': 'undeclared' }
    for (const seen of [await post(other), await post(other)]) {
      deepStrictEqual([seen.status, replayed(seen)], [200, null])
    }
    strictEqual(await notes('undeclared'), 0)
  })
})

describe('what a handler of Fastify has declared final', () => {
  it('is not the answer that is made of another error', async () => {
    const app = instance()
    app.setErrorHandler((_error, _request, reply) => reply.code(402).send('told'))
    const once = route(app, (request) => {
      once.of(request).context.reject(NO_CREDIT)
      throw new Error('own')
    })
    const post = await sender(app, 'another')
    for (const seen of [await post(), await post()]) {
      deepStrictEqual([seen.status, replayed(seen)], [402, null])
    }
  })
})

describe('a hijacked reply of Fastify', () => {
  for (const [name, fails] of [
    [
      'a coding that nobody knows',
      (raw) => void raw.setHeader('content-encoding', 'none').end('a'),
    ],
    ['its end by destroy', (raw) => void raw.destroy(new Error('own'))],
  ] as const satisfies [string, (raw: ServerResponse) => void][]) {
    it(`is answered by 500 where its call fails: ${name}`, async () => {
      const logged: string[] = []
      const stream = { write: (line: string) => void logged.push(line) }
      const app = instance({ logger: { level: 'error', stream } })
      route(app, (_request, reply) => {
        reply.hijack()
        fails(reply.raw)
      })
      const post = await sender(app, `hijacked-${name.length}`)
      const seen = await post()
      deepStrictEqual([seen.status, await seen.text()], [500, ''])
      ok(logged.some((line) => line.includes('hijacked')))
      strictEqual(await notes(`hijacked-${name.length}`), 0)
    })
  }
})

describe('a route of Fastify with the hook twice', () => {
  it('fails at once, and says so', async () => {
    const app = instance()
    const codes: unknown[] = []
    app.setErrorHandler((error, _request, reply) => {
      codes.push((error as { code?: unknown }).code)
      return reply.code(500).send('failed')
    })
    const once = route(instance(), () => 'made')
    app.post('/', { preHandler: [once, once] }, () => 'made')
    strictEqual((await (await sender(app, 'twice'))()).status, 500)
    deepStrictEqual(codes, ['call_under_way'])
  })
})
