import type { Exchange } from './exchange.ts'
import { type FastifyReplyLike, type FastifyRequestLike, ReplyOutlet } from './fastify-reply.ts'
import type { ExecutionContextLike } from './nest-like.ts'
import { alwaysUnread, formsUnread, NodeExchange, type RequestLike } from './node-request.ts'
import { Outlet } from './outlet.ts'
import type { ResponseLike } from './response-like.ts'

/** A request as the platform of NestJS has it. */
interface Platform<Request> {
  readonly exchange: Exchange<Request>
  readonly outlet: Outlet
  /** Gives an error to the filters of the application, behind the ones of its route. */
  readonly fail: (error: unknown) => void
}

/** Of Express or of Fastify, by what the response is. */
export function platformOf<Request extends object>(
  context: ExecutionContextLike,
): Platform<Request> {
  const http = context.switchToHttp()
  const request = http.getRequest() as Request
  const response = http.getResponse() as ResponseLike | FastifyReplyLike
  if ('raw' in response) {
    const wrapping = request as unknown as FastifyRequestLike
    const outlet = new ReplyOutlet(response, wrapping)
    const fail = (error: unknown) => {
      outlet.fail(error)
    }
    return { exchange: new NodeExchange(request, wrapping.raw, alwaysUnread), outlet, fail }
  }
  const exchange = new NodeExchange(request, request as unknown as RequestLike, formsUnread)
  const fail = http.getNext() as (error: unknown) => void
  return { exchange, outlet: new Outlet(response, request), fail }
}
