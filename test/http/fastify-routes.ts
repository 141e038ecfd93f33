// Routes of Fastify that write a note under their key, and go on by a handler.
import { afterEach } from 'node:test'

import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Idempotency } from 'oncely'
import { type EndpointOptions, idempotent } from 'oncely/fastify'

import type { NotesDatabase } from '../support/notes-host.ts'

export type Given = Partial<EndpointOptions<FastifyRequest>>
export type Handle = (request: FastifyRequest, reply: FastifyReply) => unknown

const principal = () => ({ tenant: 't1', actor: 'u1' })

/** To be called at the top of a test file. Servers are closed behind the test that they are of. */
export function fastifyRoutes(idempotency: Idempotency<NotesDatabase>) {
  const open: FastifyInstance[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close()
  })
  return {
    instance: (options: FastifyServerOptions = {}): FastifyInstance => {
      const app = fastify({ forceCloseConnections: true, ...options })
      open.push(app)
      return app
    },

    /** Makes `/` such a route. */
    route: (app: FastifyInstance, handle: Handle, given: Given = {}, schema = {}) => {
      const once = idempotent(idempotency, { operation: 'fastify', principal, ...given })
      app.post('/', { preHandler: once, schema }, async (request, reply) => {
        const { tx, context } = once.of(request)
        await tx.insertInto('notes').values({ key: context.key, body: 'note' }).execute()
        return handle(request, reply)
      })
      return once
    },
  }
}

/** Starts a server, and sends requests with a key to it. */
export async function sender(app: FastifyInstance, key: string) {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return (headers: Record<string, string> = {}, body = '{}') =>
    fetch(url, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/json', ...headers },
      body,
    })
}

export const replayed = ({ headers }: Response) => headers.get('idempotent-replayed')
