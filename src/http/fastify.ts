import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { type FastifyReplyLike, type FastifyRequestLike, ReplyOutlet } from './fastify-reply.ts'
import { alwaysUnread, NodeExchange } from './node-request.ts'
import type { EndpointOptions } from './options.ts'
import { UnderWay } from './under-way.ts'
import { serveWritten } from './written.ts'

/** A `preHandler` hook of Fastify, which makes the handler of its route idempotent. */
export interface IdempotentFastify<DB> {
  (request: FastifyRequestLike, reply: FastifyReplyLike, done: (error?: Error) => void): void
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: FastifyRequestLike): HttpCall<DB>
  /** The same, or undefined for a request that passes untouched, such as one without a key. */
  find(request: FastifyRequestLike): HttpCall<DB> | undefined
  /** A handler that answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<void>
}

/**
 * An idempotent route of Fastify 5, by one line of its options. The handler runs in a transaction, which is
 * committed when the reply is written, behind every hook, and only then is it sent.
 *
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * app.post('/orders', { preHandler: once }, createOrder)
 * ```
 */
export function idempotent<DB, Of extends Shape, Request extends FastifyRequestLike>(
  idempotency: Idempotency<DB, Of>,
  options: EndpointOptions<Request>,
): IdempotentFastify<DB> {
  const endpoint = new Endpoint<DB, Request>(idempotency, options)
  const calls = new UnderWay<DB, Request>()
  const once: IdempotentFastify<DB> = Object.assign(
    (given: FastifyRequestLike, reply: FastifyReplyLike, done: (error?: Error) => void) => {
      const request = given as Request
      let runs = false
      const outlet = new ReplyOutlet(reply, request)
      const serving = serveWritten<DB, Request>({
        endpoint,
        calls,
        exchange: new NodeExchange(request, request.raw, alwaysUnread),
        outlet,
        run() {
          runs = true
          done()
        },
      })
      serving
        .then((by) => {
          if (by === 'nobody') done()
        })
        .catch((error: unknown) => {
          // A hook can fail only once, and it has passed.
          if (runs) outlet.fail(error)
          else done(error as Error)
        })
    },
    {
      of: (request: FastifyRequestLike) => calls.of(request as Request),
      find: (request: FastifyRequestLike) => calls.find(request as Request),
      async lookup(request: FastifyRequestLike, reply: FastifyReplyLike) {
        const exchange = new NodeExchange(request as Request, request.raw)
        new ReplyOutlet(reply, request).send(await endpoint.lookUp(exchange))
      },
    },
  )
  return once
}
