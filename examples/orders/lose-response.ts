import type { IncomingMessage, ServerResponse } from 'node:http'

/** Loses the answer of a call that is committed, as a network does; and not that of its retry. */
export function loseResponse(request: IncomingMessage, response: ServerResponse): void {
  if (!request.headers['x-demo-lose-response']) return
  const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse
  // Of a response that is sent, which is when it is committed.
  response.end = (...given: unknown[]) => {
    const isFirst = response.statusCode < 300 && !response.hasHeader('idempotent-replayed')
    if (isFirst) request.socket.destroy()
    return isFirst ? response : end(...given)
  }
}
