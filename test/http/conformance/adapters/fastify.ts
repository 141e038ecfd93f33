import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'

import { idempotent as onFastify } from '../../../../src/fastify.ts'
import { type Adapter, type Answer, principalOf } from '../server.ts'
import { contentOf, listening, operation } from './parts.ts'

export const fastifyAdapter: Adapter = {
  name: 'fastify',
  without: {
    'content unread': 'Fastify reads it before: its `bodyLimit` counts',
    'throws behind its answer': 'what is thrown behind an answer is only logged: the answer counts',
  },
  async start({ idempotency, handler, route, parser, onError }) {
    const principal = ({ headers }: FastifyRequest) => principalOf(headers['x-actor'] as string)
    const once = onFastify(idempotency, { operation, principal, ...route })
    const app = fastify({ forceCloseConnections: true })
    if (!parser) app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body)
    })
    app.get('/lookup', once.lookup)
    app.route<{ Params: { id: string } }>({
      method: ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'POST', 'PATCH'],
      url: '/things/:id',
      preHandler: once,
      async handler(request, reply) {
        const call = once.find(request)
        if (!call) return 'untouched'
        const answer = await handler({
          call,
          content: () => Promise.resolve(contentOf(request.body)),
          end: (first) => {
            end(reply, first)
          },
        })
        if (answer) end(reply, answer)
        return reply
      },
    })
    app.setErrorHandler((error, _request, reply) => {
      end(reply, onError?.(error) ?? { status: 500, body: 'failed' })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { ...(await listening(app.server)), close: () => app.close() }
  },
}

function end(reply: FastifyReply, { status = 200, headers = [], body, stream }: Answer): void {
  void reply.code(status)
  for (const [name, value] of headers) {
    // Of this one Fastify itself keeps all lines.
    const before = name === 'set-cookie' ? undefined : reply.getHeader(name)
    void reply.header(name, before === undefined ? value : [before, value].flat())
  }
  if (stream) void reply.send(Readable.from(stream))
  else void reply.send(body)
}
