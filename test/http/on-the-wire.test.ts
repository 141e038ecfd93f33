// What fetch does not show of an answer: its head as it is sent, and whether there is one.
import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

import { serve as serveFetch } from '@hono/node-server'
import { Hono } from 'hono'
import { createIdempotency } from 'oncely'
import { idempotent as onHono } from 'oncely/hono'
import { idempotent as onFetch } from 'oncely/http'
import { idempotent as onNode } from 'oncely/node'

import { testDatabase } from '../support/database.ts'
import { listening } from './conformance/adapters/parts.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())
const serve = servers()
const given = { operation: 'wire', principal: () => ({ tenant: 't1', actor: 'u1' }) }

/** Everything that is sent for a request. */
async function onTheWire(url: string, key: string, path = '/'): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nidempotency-key: ${key}\r\ncontent-length: 0`
  socket.write(`${head}\r\nconnection: close\r\n\r\n`)
  return text(socket)
}

/** An answer of another server, with what was of the connection to it. */
const proxied = () =>
  new Response(new Blob(['made']).stream(), {
    status: 201,
    headers: {
      'transfer-encoding': 'chunked',
      connection: 'keep-alive, x-hop',
      'keep-alive': 'timeout=5',
      'x-hop': '1',
      'x-end': '2',
    },
  })

describe('an answer on the wire', () => {
  for (const [name, start] of Object.entries({
    fetch: (fetch: Hono['fetch']) => fetch,
    hono: () => new Hono().post('/', onHono(idempotency, given), proxied).fetch,
  })) {
    it(`of ${name} has one length, and nothing of the connection that it has come by`, async () => {
      const handler = onFetch(idempotency, { ...given, operation: 'fetch' })(proxied)
      const fetch = start(handler)
      const server = await serve(
        listening(serveFetch({ fetch, port: 0, hostname: '127.0.0.1' }) as Server),
      )
      const seen = await onTheWire(server.url, 'proxied')
      match(seen, /^HTTP\/1\.1 201 /)
      match(seen, /^content-length: 4\r$/im)
      match(seen, /^x-end: 2\r$/im)
      doesNotMatch(seen, /transfer-encoding|keep-alive|x-hop/i)
    })
  }

  it('of ours has a head where a middleware in front puts off its end', async () => {
    let isOver: () => void = () => undefined
    const route = onNode(idempotency, { ...given, operation: 'late', deadlineMs: 100 })
    const never = route((_request: IncomingMessage, response: ServerResponse) => {
      response.setHeader('x-mine', '1')
    })
    const server = createServer((request, response) => {
      const end = response.end.bind(response) as (...ended: unknown[]) => ServerResponse
      response.end = (...ended: unknown[]) => {
        isOver = () => end(...ended)
        server.emit('put off')
        return response
      }
      void never(request, response)
    })
    const { url } = await serve(listening(server.listen(0, '127.0.0.1')))
    const seen = onTheWire(url, 'late')
    await once(server, 'put off')
    // By then the handler has been cut off.
    await new Promise(setImmediate)
    isOver()
    match(await seen, /^HTTP\/1\.1 503 .*^content-length: \d+\r$.*"code":"unavailable"/ims)
    doesNotMatch(await seen, /x-mine/)
  })

  it('of a handler has the length that is there, whatever the handler says', async () => {
    const route = onNode(idempotency, { ...given, operation: 'length' })
    const listener = route((_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 3 }).end('0123456789')
    })
    const server = createServer((request, response) => void listener(request, response))
    const { url } = await serve(listening(server.listen(0, '127.0.0.1')))
    for (const _ of ['first', 'replay']) {
      match(await onTheWire(url, 'length'), /^content-length: 10\r$.*0123456789$/ims)
    }
    strictEqual(server.listening, true)
  })

  it('is none for a client that breaks off its request, and is no error of the host', async () => {
    const heard: unknown[] = []
    const onError = (error: unknown) => heard.push(error)
    const route = onNode(idempotency, { ...given, operation: 'broken', onError })
    let runs = 0
    const listener = route((_request: IncomingMessage, response: ServerResponse) => {
      runs += 1
      response.end()
    })
    const isOver = Promise.withResolvers<undefined>()
    const server = createServer((request, response) => {
      socket.destroy()
      void listener(request, response).then(() => {
        isOver.resolve(undefined)
      })
    })
    const { url } = await serve(listening(server.listen(0, '127.0.0.1')))
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = 'POST / HTTP/1.1\r\nhost: a\r\nidempotency-key: broken\r\ncontent-length: 10'
    socket.write(`${head}\r\n\r\nhalf`)
    await isOver.promise
    deepStrictEqual([heard, runs], [[], 0])
  })
})
