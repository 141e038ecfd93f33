import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { answer } from './node.ts'
import { NodeExchange, type RequestLike } from './node-request.ts'
import type { EndpointOptions } from './options.ts'
import { type ResponseLike, send } from './response-like.ts'
import { TakenResponse } from './taken-response.ts'
import { UnderWay } from './under-way.ts'

/** A handler of Express, as a route takes it. */
export type ExpressHandler<Request> = (
  request: Request & RequestLike,
  response: ResponseLike,
  next: (error?: unknown) => void,
) => void

/** A handler of Express for errors. */
export type ExpressErrorHandler<Request> = (
  error: unknown,
  request: Request & RequestLike,
  response: ResponseLike,
  next: (error?: unknown) => void,
) => void

/** A middleware of Express that makes the handlers behind it idempotent. */
export interface IdempotentExpress<DB, Request extends object> extends ExpressHandler<Request> {
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: Request): HttpCall<DB>
  /**
   * To be put right behind the handlers of a route: takes note that one of them has thrown, and passes the error
   * on. Then an answer that an error handler makes of it is not stored, unless its status is one of
   * `finalStatuses`. Without it an error handler that answers by 200 stores what it says.
   *
   * @example
   * ```ts
   * app.post('/orders', once, createOrder, once.onError)
   * ```
   */
  readonly onError: ExpressErrorHandler<Request>
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: ExpressHandler<Request>
}

/**
 * An idempotent route of Express 5. The handlers behind the middleware run in a transaction, which is
 * committed when they have ended the response, and only then is it sent. Express tells a middleware of no error of
 * a handler behind it: what an error handler answers is what counts, which is why there is `onError`.
 *
 * @throws OncelyError `invalid_options`.
 */
export function idempotent<DB, Of extends Shape, Request extends RequestLike>(
  idempotency: Idempotency<DB, Of>,
  options: EndpointOptions<Request>,
): IdempotentExpress<DB, Request> {
  const endpoint = new Endpoint<DB, Request>(idempotency, options)
  const calls = new UnderWay<DB, Request>()
  const failed = new WeakSet<Request>()
  const onError: ExpressErrorHandler<Request> = (error, request, _response, next) => {
    failed.add(request)
    next(error)
  }
  const once: ExpressHandler<Request> = (request, response, next) => {
    let taken: TakenResponse | undefined
    const serving = endpoint.serve(new NodeExchange<Request>(request), (call) => {
      calls.set(request, call)
      taken = new TakenResponse(response, endpoint.maxResponseBytes)
      next()
      return taken.answered.then((answer) => ({ ...answer, hasFailed: failed.has(request) }))
    })
    serving
      .then((served) => {
        if (served.by === 'nobody') next()
        else answer(served, response, taken)
      })
      .catch((error: unknown) => {
        taken?.clear()
        next(error)
      })
  }
  const lookup: ExpressHandler<Request> = (request, response, next) => {
    endpoint
      .lookUp(new NodeExchange<Request>(request))
      .then((found) => {
        send(response, found)
      })
      .catch(next)
  }
  return Object.assign(once, { of: (request: Request) => calls.of(request), onError, lookup })
}
