// What other middlewares, parsers and error handlers of a framework do, in front of a route and behind it.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'

import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { createIdempotency } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import { idempotent as onHono } from 'oncely/hono'

import { testDatabase } from '../support/database.ts'
import { served } from './servers.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())
const principal = () => ({ tenant: 't1', actor: 'u1' })
const given = { operation: 'beside', principal, exposeHeaders: true }

const post = (url: string, key: string, body?: URLSearchParams) =>
  fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, ...(body && { body }) })

describe('a route on Express', () => {
  it('lets a page read what a middleware in front exposes, and what we do', async (t) => {
    const app = express().set('env', 'test')
    app.use((_req, res, next) => {
      res.set('access-control-expose-headers', 'x-total')
      next()
    })
    app.post('/', onExpress(idempotency, given), (_req, res) => void res.send('made'))
    await exposesBoth(await served(t, app))
  })

  it('keeps a header that is added when the head is sent, by a middleware behind', async (t) => {
    const route = onExpress(idempotency, { ...given, storedHeaders: ['x-cost'] })
    const app = express().set('env', 'test')
    const late = (_req: unknown, res: ServerResponse, next: () => void) => {
      const writeHead = res.writeHead.bind(res)
      res.writeHead = (status: number) => {
        res.setHeader('x-cost', '7')
        return writeHead(status)
      }
      next()
    }
    app.post('/', route, late, (_req, res) => void res.send('made'))
    const url = await served(t, app)
    const seen = [await post(url, 'late'), await post(url, 'late')]
    deepStrictEqual(
      seen.map(({ headers }) => headers.get('x-cost')),
      ['7', '7'],
    )
  })

  it('sets no header again that others have set', async (t) => {
    const app = express().set('env', 'test')
    app.use((_req, res, next) => {
      const setHeader = res.setHeader.bind(res)
      res.setHeader = (name: string, value) =>
        setHeader(
          name,
          name.toLowerCase() === 'set-cookie' ? `${String(value)}; Partitioned` : value,
        )
      next()
    })
    app.post('/', onExpress(idempotency, given), (_req, res) => {
      res.setHeader('Set-Cookie', 'a=1')
      res.end('made')
    })
    const { headers } = await post(await served(t, app), 'cookie')
    strictEqual(headers.get('set-cookie'), 'a=1; Partitioned')
  })

  it('takes a form that a parser has read by what it has made of it', async (t) => {
    const app = express()
      .set('env', 'test')
      .use(express.urlencoded({ extended: true }))
    app.post('/', onExpress(idempotency, given), (req, res) => void res.json(req.body))
    const url = await served(t, app)
    const form = (body: string) => post(url, 'form', new URLSearchParams(body))
    strictEqual(await (await form('a[b]=1&c=2')).text(), '{"a":{"b":"1"},"c":"2"}')
    strictEqual((await form('c=2&a[b]=1')).headers.get('idempotent-replayed'), 'true')
    strictEqual((await form('a[b]=1&c=3')).status, 422)
  })

  it('knows by onError that an answer was made of an error, which is not stored', async (t) => {
    let runs = 0
    const route = onExpress(idempotency, given)
    const app = express().set('env', 'test')
    const failing = () => {
      runs += 1
      throw new Error('own')
    }
    app.post('/', route, failing, route.onError)
    const forgiving: express.ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error)
      else res.json({ error: error.message })
    }
    app.use(forgiving)
    const url = await served(t, app)
    for (const run of [1, 2]) {
      const seen = await post(url, 'forgiving')
      deepStrictEqual([seen.status, await seen.text(), runs], [200, '{"error":"own"}', run])
      strictEqual(seen.headers.get('idempotent-replayed'), null)
    }
  })

  it('takes the target that a proxy was sent, with scheme and host, for the same', async (t) => {
    const app = express().set('env', 'test')
    app.post('/things', onExpress(idempotency, given), (_req, res) => void res.send('made'))
    const url = new URL('/things?of=1', await served(t, app))
    strictEqual((await post(url.href, 'target')).status, 200)
    const socket = connect(Number(url.port), url.hostname)
    const head = `POST ${url.href} HTTP/1.1\r\nhost: ${url.host}\r\nidempotency-key: target`
    socket.write(`${head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    const answer = await text(socket)
    match(answer, /^idempotent-replayed: true\r$/im)
  })
})

describe('a route on Hono', () => {
  const route = onHono(idempotency, { ...given, operation: 'hono' })
  const servedBy = (t: TestContext, app: Hono) => {
    const listener = getRequestListener(app.fetch)
    return served(t, (req, res) => void listener(req, res))
  }

  it('lets a page read what a middleware in front exposes, and what we do', async (t) => {
    const app = new Hono()
    app.use(cors({ origin: '*', exposeHeaders: ['x-total'] }))
    app.post('/', route, (c) => c.text('made'))
    await exposesBoth(await servedBy(t, app))
  })

  it('leaves the headers of an answer to the handler, as if it were not there', async (t) => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('cache-control', 'public')
      await next()
    })
    const own = () => new Response('made', { headers: { 'cache-control': 'no-store' } })
    app.all('/', route, own)
    const url = await servedBy(t, app)
    for (const method of ['POST', 'PUT']) {
      const seen = await fetch(url, { method, headers: { 'idempotency-key': 'own-headers' } })
      strictEqual(seen.headers.get('cache-control'), 'no-store', method)
    }
  })

  it('lets no cache keep a look at a key, whatever is said in front', async (t) => {
    const app = new Hono()
    app.use(cors({ origin: '*', exposeHeaders: ['x-total'] }))
    app.use(async (c, next) => {
      c.header('cache-control', 'public, max-age=60')
      await next()
    })
    app.get('/', route.lookup)
    app.post('/', route, (c) => c.text('made'))
    const url = await servedBy(t, app)
    await post(url, 'looked-up')
    for (const [key, status] of [
      ['looked-up', 200],
      ['nothing', 404],
    ] as const) {
      const seen = await fetch(url, { headers: { 'idempotency-key': key } })
      deepStrictEqual([seen.status, seen.headers.get('cache-control')], [status, 'no-store'])
      strictEqual(seen.headers.get('access-control-allow-origin'), '*')
      match(String(seen.headers.get('access-control-expose-headers')), /^x-total, Idempotent-/)
    }
  })
})

/** On the first answer, on its replay, and on a refusal. */
async function exposesBoth(url: string) {
  const seen = [await post(url, 'cors'), await post(url, 'cors'), await post(url, '"')]
  for (const { headers } of seen) {
    const exposed = headers.get('access-control-expose-headers')
    const ours = 'Idempotent-Replayed, Idempotency-Key-Retention, Retry-After, Link'
    strictEqual(exposed, `x-total, ${ours}`)
  }
  deepStrictEqual(
    seen.map(({ status, headers }) => [status, headers.get('idempotent-replayed')]),
    [
      [200, null],
      [200, 'true'],
      [400, null],
    ],
  )
}
