import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

import { serve } from '@hono/node-server'
import express, { type ErrorRequestHandler } from 'express'
import { type Context, Hono } from 'hono'

import { idempotent as onExpress } from '../../../src/express.ts'
import { idempotent as onHono } from '../../../src/hono.ts'
import { idempotent as onFetch } from '../../../src/http.ts'
import { idempotent as onNode } from '../../../src/node.ts'
import {
  type Adapter,
  type Answer,
  principalOf,
  type Server,
  type ServerOptions,
} from './server.ts'

const operation = 'things.make'

/** Once it listens, on a port that is free. */
export async function listening(server: NodeServer): Promise<Server> {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function responseOf({ status = 200, headers = [], body, stream }: Answer): Response {
  const bytes = stream?.map((text) => new TextEncoder().encode(text))
  const lines = headers.map(([name, value]): [string, string] => [name, value])
  const content = bytes ? (ReadableStream.from(bytes) as ReadableStream) : (body ?? null)
  return new Response(content, { status, headers: lines })
}

function end(response: ServerResponse, answer: Answer): void {
  const { status = 200, headers = [], body, stream } = answer
  response.statusCode = status
  for (const [name, value] of headers) response.appendHeader(name, value)
  if (stream) Readable.from(stream).pipe(response)
  else response.end(body)
}

const never = new Promise<never>(() => undefined)
const isReturned = 'what a handler returns is its answer'

const fetchAdapter: Adapter = {
  name: 'http',
  without: {
    'body parser': 'there is none: a handler reads its request',
    'error handler': 'what a handler throws is thrown to the server',
    'answers twice': isReturned,
    'throws behind its answer': isReturned,
  },
  async start({ idempotency, handler, route }) {
    const principal = ({ headers }: Request) => principalOf(headers.get('x-actor'))
    const idempotent = onFetch(idempotency, { operation, principal, ...route })
    const things = idempotent(async (request) => {
      if (!['POST', 'PATCH'].includes(request.method)) return new Response('untouched')
      if (!request.headers.has('idempotency-key')) return new Response('untouched')
      const call = idempotent.of(request)
      const answer = await handler({ call, content: () => request.text() })
      return answer ? responseOf(answer) : never
    })
    const fetch = (request: Request) =>
      new URL(request.url).pathname === '/lookup' ? idempotent.lookup(request) : things(request)
    return listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as NodeServer)
  },
}

const nodeAdapter: Adapter = {
  name: 'node',
  without: {
    'body parser': 'there is none: `of` has the content',
    'error handler': 'what a listener throws is answered by 500',
  },
  async start({ idempotency, handler, route }) {
    const principal = ({ headers }: IncomingMessage) => principalOf(headers['x-actor'] as string)
    const onError = () => undefined
    const idempotent = onNode(idempotency, { operation, principal, onError, ...route })
    const things = idempotent(async (request: IncomingMessage, response: ServerResponse) => {
      if (
        !['POST', 'PATCH'].includes(String(request.method)) ||
        !request.headers['idempotency-key']
      ) {
        response.end('untouched')
        return
      }
      const call = idempotent.of(request)
      const answer = await handler({
        call,
        content: () => Promise.resolve(Buffer.from(call.body ?? []).toString()),
        end: (first) => {
          end(response, first)
        },
      })
      if (answer) end(response, answer)
    })
    const server = createServer((request, response) => {
      void (request.url === '/lookup'
        ? idempotent.lookup(request, response)
        : things(request, response))
    })
    return listening(server.listen(0, '127.0.0.1'))
  },
}

const honoAdapter: Adapter = {
  name: 'hono',
  without: { 'answers twice': isReturned, 'throws behind its answer': isReturned },
  async start({ idempotency, handler, route, parser, onError }) {
    const principal = (c: Context) => principalOf(c.req.header('x-actor'))
    const idempotent = onHono(idempotency, { operation, principal, ...route })
    const app = new Hono()
    if (parser) {
      app.use('/things/*', async (c, next) => {
        if (c.req.header('content-type') === 'application/json') await c.req.json()
        await next()
      })
    }
    app.get('/lookup', idempotent.lookup)
    app.all('/things/:id', idempotent, async (c) => {
      if (!['POST', 'PATCH'].includes(c.req.method) || !c.req.header('idempotency-key')) {
        return c.text('untouched')
      }
      const answer = await handler({ call: idempotent.of(c), content: () => c.req.text() })
      return answer ? responseOf(answer) : never
    })
    app.onError((error) => responseOf(onError?.(error) ?? { status: 500, body: 'failed' }))
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as NodeServer)
  },
}

const expressAdapter: Adapter = {
  name: 'express',
  without: {
    'throws behind its answer': 'Express tells a middleware of no error: the answer counts',
  },
  async start({ idempotency, handler, route, parser, onError }) {
    const principal = (request: express.Request) => principalOf(request.get('x-actor'))
    const idempotent = onExpress(idempotency, { operation, principal, ...route })
    const app = express()
    if (parser) app.use(express.json())
    app.get('/lookup', idempotent.lookup)
    app.all('/things/:id', idempotent, async (request, response) => {
      if (!['POST', 'PATCH'].includes(request.method) || !request.get('idempotency-key')) {
        response.send('untouched')
        return
      }
      const call = idempotent.of(request)
      const answer = await handler({
        call,
        content: () =>
          Promise.resolve(
            call.body ? Buffer.from(call.body).toString() : JSON.stringify(request.body),
          ),
        end: (first) => {
          end(response, first)
        },
      })
      if (answer) end(response, answer)
    })
    const handleError: ErrorRequestHandler = (error, _request, response, next) => {
      if (response.headersSent) {
        next(error)
        return
      }
      end(response, onError?.(error) ?? { status: 500, body: 'failed' })
    }
    app.use(handleError)
    return listening(app.listen(0, '127.0.0.1'))
  },
}

export const adapters: readonly Adapter[] = [fetchAdapter, nodeAdapter, honoAdapter, expressAdapter]
export type { ServerOptions }
