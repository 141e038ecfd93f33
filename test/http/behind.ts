// Servers with something in front of the middleware that reads the content.
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http'

import { serve as serveFetch } from '@hono/node-server'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { type Context, Hono } from 'hono'
import { type Idempotency, isOncelyError } from 'oncely'
import { idempotent as onExpress } from 'oncely/express'
import { idempotent as onHono } from 'oncely/hono'
import { type EndpointOptions, idempotent as onFetch } from 'oncely/http'
import { idempotent as onNode } from 'oncely/node'

import type { NotesDatabase } from '../support/notes-host.ts'
import { listening } from './conformance/adapters/parts.ts'
import { write } from './conformance/check.ts'
import type { Server } from './conformance/server.ts'

/** Starts servers by what is in front. They answer 201, and 500 where something is thrown. */
export interface Behind {
  express(parser: RequestHandler, given?: Given<express.Request>): Promise<Server>
  hono(parse: (context: Context) => Promise<unknown>): Promise<Server>
  fetch(parse: (request: Request) => Promise<unknown>, given?: Given<Request>): Promise<Server>
  node(parse: (request: IncomingMessage) => Promise<unknown>): Promise<Server>
}

type Given<Of> = Partial<Pick<EndpointOptions<Of>, 'fingerprint'>>

/** @param hear - hears of what is thrown: the code of an error of ours, or another error. */
export function behind(
  idempotency: Idempotency<NotesDatabase>,
  hear: (thrown: unknown) => void,
): Behind {
  const options = { operation: 'things.make', principal: () => ({ tenant: 't1', actor: 'u1' }) }
  const hearOf = (error: unknown) => {
    hear(isOncelyError(error) ? error.code : error)
  }
  const start = (fetch: (request: Request) => Response | Promise<Response>) =>
    listening(serveFetch({ fetch, port: 0, hostname: '127.0.0.1' }) as NodeServer)

  return {
    express(parser, given = {}) {
      const once = onExpress(idempotency, { ...options, ...given })
      const app = express()
      app.post('/things/:id', parser, once, async (request, response) => {
        await write(once.of(request))
        response.status(201).json(request.body)
      })
      const onError: ErrorRequestHandler = (error, _request, response, next) => {
        hearOf(error)
        if (response.headersSent) next(error)
        else response.status(500).end()
      }
      app.use(onError)
      return listening(app.listen(0, '127.0.0.1'))
    },

    hono(parse) {
      const once = onHono(idempotency, options)
      const app = new Hono()
      app.use(async (c, next) => {
        await parse(c)
        await next()
      })
      app.post('/things/:id', once, async (c) => {
        await write(once.of(c))
        return c.json(await c.req.parseBody(), 201)
      })
      app.onError((error, c) => {
        hearOf(error)
        return c.body(null, 500)
      })
      return start(app.fetch)
    },

    fetch(parse, given = {}) {
      const once = onFetch(idempotency, { ...options, ...given })
      const things = once(async (request) => {
        await write(once.of(request))
        return new Response('made', { status: 201 })
      })
      return start(async (request) => {
        await parse(request)
        return things(request).catch((error: unknown) => {
          hearOf(error)
          return new Response(null, { status: 500 })
        })
      })
    },

    node(parse) {
      const once = onNode(idempotency, { ...options, onError: hearOf })
      const things = once(async (request: IncomingMessage, response: ServerResponse) => {
        await write(once.of(request))
        response.end()
      })
      const server = createServer((request, response) => {
        void parse(request).then(() => things(request, response))
      })
      return listening(server.listen(0, '127.0.0.1'))
    },
  }
}
