// What is special to Fastify: replies of error handlers, hooks behind the handler, streams, hijacked replies.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { connect } from 'node:http2'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, describe, it } from 'node:test'

import compress from '@fastify/compress'
import cors from '@fastify/cors'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { type EndpointOptions, idempotent } from 'oncely/fastify'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())
const principal = () => ({ tenant: 't1', actor: 'u1' })

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

type Given = Partial<EndpointOptions<FastifyRequest>>
type Handle = (request: FastifyRequest, reply: FastifyReply) => unknown

function instance(options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify({ forceCloseConnections: true, ...options })
  open.push(app)
  return app
}

/** Makes `/` a route that writes a note under its key, and goes on by a handler. */
function route(app: FastifyInstance, handle: Handle, given: Given = {}, schema = {}) {
  const once = idempotent(idempotency, { operation: 'fastify', principal, ...given })
  app.post('/', { preHandler: once, schema }, async (request, reply) => {
    const { tx, context } = once.of(request)
    await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
    return handle(request, reply)
  })
  return once
}

async function sender(app: FastifyInstance, key: string) {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return (headers: Record<string, string> = {}, body = '{}') =>
    fetch(url, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/json', ...headers },
      body,
    })
}

const replayed = ({ headers }: Response) => headers.get('idempotent-replayed')
const notes = async (key: string) => (await host.left(key)).notes.length

describe('a route on Fastify', () => {
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
      reply.header('content-encoding', request.headers['x-coding'] as never).send('plain'),
    )
    const post = await sender(app, 'codings')
    for (const coding of ['gzip', 'compress']) {
      const seen = await post({ 'x-coding': coding })
      deepStrictEqual([seen.status, seen.headers.get('content-encoding')], [500, null])
    }
    deepStrictEqual(errors, ['invalid_response', 'invalid_response'])
    strictEqual(await notes('codings'), 0)
  })

  it('does not store what an error handler has made a success of', async () => {
    const app = instance()
    app.setErrorHandler((_error, _request, reply) => reply.code(200).send('all is well'))
    route(app, () => {
      throw new Error('own')
    })
    const post = await sender(app, 'made-well')
    for (const seen of [await post(), await post()]) {
      deepStrictEqual([seen.status, await seen.text(), replayed(seen)], [200, 'all is well', null])
    }
    strictEqual(await notes('made-well'), 0)
  })

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
        setImmediate(() => reply.code(201).send({ a: 1 }))
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

  it('gives a COMMIT that fails to the error handler, with nothing of the answer', async () => {
    const app = instance()
    app.setErrorHandler((error, _request, reply) => {
      const { code } = error as { code?: string }
      return reply.code(500).send({ code })
    })
    const db = host.connect()
    await sql`create table later (
      key text, unique (key) deferrable initially deferred
    )`.execute(db)
    await sql`insert into later values ('commit-fails')`.execute(db)
    const once = route(app, async (request, reply) => {
      await sql`insert into later values ('commit-fails')`.execute(once.of(request).tx)
      return reply.code(201).header('location', '/things/7').send({ a: 1 })
    })
    const post = await sender(app, 'commit-fails')
    const seen = await post()
    deepStrictEqual(
      [seen.status, await seen.json(), seen.headers.get('location')],
      [500, { code: '23505' }, null],
    )
    strictEqual(await notes('commit-fails'), 0)
  })

  it('is told apart by what a schema has validated and filled in', async () => {
    const app = instance()
    const { fingerprint } = await import('oncely')
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

  it('answers a handler that never does in its place, and lets it come too late', async () => {
    const app = instance()
    let late: (() => void) | undefined
    route(
      app,
      async (_request, reply) => {
        await new Promise<void>((resolve) => {
          late = resolve
        })
        return reply.code(201).header('x-late', '1').send('late')
      },
      { deadlineMs: 300 },
    )
    const post = await sender(app, 'never')
    const seen = await post()
    deepStrictEqual([seen.status, seen.headers.get('retry-after')], [503, '1'])
    late?.()
    strictEqual(await notes('never'), 0)
    ok(app.server.listening)
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

    const second = fastify({ http2: true, forceCloseConnections: true })
    open.push(second)
    route(second as never, (_request, reply) => reply.code(201).send({ a: 1 }))
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
