import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import { answerOf, type HttpAnswer, responseOf } from './answer.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import type { Served } from './exchange.ts'
import { FetchExchange, withContent } from './fetch-request.ts'
import type { EndpointOptions } from './options.ts'
import { UnderWay } from './under-way.ts'

/** Answers a request of the web, as servers and test clients of the fetch standard take it. */
export type FetchHandler<Rest extends readonly unknown[] = []> = (
  request: Request,
  ...rest: Rest
) => Promise<Response> | Response

/** Makes handlers of the fetch standard idempotent. */
export interface IdempotentFetch<DB> {
  /**
   * @returns the same handler, which runs once for a key; whoever comes later gets the first answer. It
   * throws what the handler throws. What else it is called with, such as an environment, is passed on.
   */
  <Rest extends readonly unknown[] = []>(
    handler: FetchHandler<Rest>,
  ): (request: Request, ...rest: Rest) => Promise<Response>
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: Request): HttpCall<DB>
  /** The same, or undefined for a request that passes untouched, such as one without a key. */
  find(request: Request): HttpCall<DB> | undefined
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: (request: Request) => Promise<Response>
}

/**
 * Idempotent handlers of web-standard Request and Response.
 *
 * @throws OncelyError `invalid_options`.
 */
export function idempotent<DB, Of extends Shape>(
  idempotency: Idempotency<DB, Of>,
  options: EndpointOptions<Request>,
): IdempotentFetch<DB> {
  const endpoint = new Endpoint(idempotency, options)
  const calls = new UnderWay<DB, Request>()
  const once =
    <Rest extends readonly unknown[]>(handler: FetchHandler<Rest>) =>
    async (request: Request, ...rest: Rest) => {
      const exchange = new FetchExchange(request, options.fingerprint !== undefined)
      const served = await calls.during(request, endpoint.options.operation, () =>
        endpoint.serve(exchange, async (call) => {
          exchange.release()
          // Read for its fingerprint, it can be read again.
          const given = call.body ? withContent(request, call.body) : request
          for (const one of [request, given]) calls.set(one, call)
          return answerOf(await handler(given, ...rest), endpoint.maxResponseBytes)
        }),
      )
      exchange.release()
      return served.by === 'nobody' ? handler(request, ...rest) : responseOf(answerIn(served))
    }
  return Object.assign(once, {
    of: (request: Request) => calls.of(request),
    find: (request: Request) => calls.find(request),
    async lookup(request: Request) {
      return responseOf(await endpoint.lookUp(new FetchExchange(request, false)))
    },
  })
}

/** What is sent of what was served. */
export function answerIn(served: Exclude<Served, { by: 'nobody' }>): HttpAnswer {
  if (served.by === 'us') return served.answer
  const { answer, announced } = served
  return { ...answer, headers: [...answer.headers, ...announced] }
}
