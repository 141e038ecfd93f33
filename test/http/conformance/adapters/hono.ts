import type { Server as NodeServer } from 'node:http'

import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'

import { idempotent as onHono } from '../../../../src/hono.ts'
import { type Adapter, principalOf } from '../server.ts'
import { isReturned, listening, never, operation, responseOf } from './parts.ts'

export const honoAdapter: Adapter = {
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
