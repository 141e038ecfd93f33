import express, { type ErrorRequestHandler } from 'express'

import { idempotent as onExpress } from '../../../../src/express.ts'
import { type Adapter, principalOf } from '../server.ts'
import { end, listening, operation } from './parts.ts'

export const expressAdapter: Adapter = {
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
