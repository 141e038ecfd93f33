import type { Server as NodeServer } from 'node:http'

import { serve } from '@hono/node-server'

import { idempotent as onFetch } from '../../../../src/http.ts'
import { type Adapter, principalOf } from '../server.ts'
import { isReturned, listening, never, operation, responseOf } from './parts.ts'

export const fetchAdapter: Adapter = {
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
