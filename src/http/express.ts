import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { NodeExchange, type RequestLike } from './node-request.ts'
import type { EndpointOptions } from './options.ts'
import { Outlet } from './outlet.ts'
import { type ResponseLike, send } from './response-like.ts'
import type { TakenResponse } from './taken-response.ts'
import { UnderWay } from './under-way.ts'
import { serveWritten } from './written.ts'

/** A handler of Express, as a route takes it. */
export type ExpressHandler = (
  request: RequestLike,
  response: ResponseLike,
  next: (error?: unknown) => void,
) => void

/** A handler of Express for errors. */
export type ExpressErrorHandler = (
  error: unknown,
  request: RequestLike,
  response: ResponseLike,
  next: (error?: unknown) => void,
) => void

/** A middleware of Express that makes the handlers behind it idempotent. */
export interface IdempotentExpress<DB> extends ExpressHandler {
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: RequestLike): HttpCall<DB>
  /** The same, or undefined for a request that passes untouched, such as one without a key. */
  find(request: RequestLike): HttpCall<DB> | undefined
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
  readonly onError: ExpressErrorHandler
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: ExpressHandler
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
): IdempotentExpress<DB> {
  const endpoint = new Endpoint<DB, Request>(idempotency, options)
  const calls = new UnderWay<DB, Request>()
  const underWay = new WeakMap<RequestLike, TakenResponse>()
  const onError: ExpressErrorHandler = (error, request, _response, next) => {
    const meant = underWay.get(request)?.fail(error)
    // What was given up goes on with the error by itself.
    if (meant !== 'given up') next(error)
  }
  const once: ExpressHandler = (given, response, next) => {
    const request = given as Request
    const serving = serveWritten({
      endpoint,
      calls,
      exchange: new NodeExchange(request),
      outlet: new Outlet(response),
      run(_call, taken) {
        underWay.set(request, taken)
        next()
      },
    })
    serving
      .then((by) => {
        if (by === 'nobody') next()
      })
      .catch(next)
  }
  const lookup: ExpressHandler = (request, response, next) => {
    endpoint
      .lookUp(new NodeExchange(request as Request))
      .then((found) => {
        send(response, found)
      })
      .catch(next)
  }
  const of = (request: RequestLike) => calls.of(request as Request)
  const find = (request: RequestLike) => calls.find(request as Request)
  return Object.assign(once, { of, find, onError, lookup })
}
