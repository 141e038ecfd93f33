import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { idempotent as onNode } from '../../../../src/node.ts'
import { type Adapter, principalOf } from '../server.ts'
import { end, listening, operation } from './parts.ts'

export const nodeAdapter: Adapter = {
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
