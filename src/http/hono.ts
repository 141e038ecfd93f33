import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import { type Announced, besides } from './announce.ts'
import { answerOf, type HttpAnswer, responseOf } from './answer.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import { answerIn } from './fetch.ts'
import { type ContextLike, HonoExchange } from './hono-request.ts'
import type { EndpointOptions } from './options.ts'
import { UnderWay } from './under-way.ts'

/** A middleware of Hono that makes the handlers behind it idempotent. */
export interface IdempotentHono<DB> {
  (context: ContextLike, next: () => Promise<void>): Promise<void>
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(context: ContextLike): HttpCall<DB>
  /** The same, or undefined for a request that passes untouched, such as one without a key. */
  find(context: ContextLike): HttpCall<DB> | undefined
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: (context: ContextLike) => Promise<Response>
}

/**
 * An idempotent route of Hono 4. The handlers behind the middleware run in a transaction, which is
 * committed when they have answered, and only then is the answer sent.
 *
 * @throws OncelyError `invalid_options`.
 */
export function idempotent<DB, Of extends Shape, Context extends ContextLike>(
  idempotency: Idempotency<DB, Of>,
  options: EndpointOptions<Context>,
): IdempotentHono<DB> {
  const endpoint = new Endpoint<DB, Context>(idempotency, options)
  const calls = new UnderWay<DB, Context>()
  const once = async (given: ContextLike, next: () => Promise<void>) => {
    const context = given as Context
    let inFront: Announced | undefined
    let isOver = false as boolean
    const handle = async (call: HttpCall<DB>) => {
      calls.set(context, call)
      inFront = headersOf(context)
      await next()
      // Its answer is not waited for any more, and another one is there.
      if (isOver) throw new Error('given up')
      if (!context.finalized) throw new Error('the handler has returned no answer')
      // Hono has made an answer of what was thrown, and goes on as if nothing had happened.
      const thrown = context.error && { error: context.error }
      return { ...(await answerOf(context.res, endpoint.maxResponseBytes)), thrown }
    }
    try {
      const exchange = new HonoExchange<Context>(context)
      const served = await calls.during(context, endpoint.options.operation, () =>
        endpoint.serve(exchange, handle),
      )
      isOver = true
      if (served.by === 'nobody') await next()
      else if (served.by === 'handler') replace(context, responseOf(answerIn(served)))
      else replace(context, beside(inFront ?? headersOf(context), served.answer))
    } catch (error) {
      isOver = true
      if (inFront) replace(context, beside(inFront, NO_ANSWER))
      throw error
    }
  }
  return Object.assign(once, {
    of: (context: ContextLike) => calls.of(context as Context),
    find: (context: ContextLike) => calls.find(context as Context),
    async lookup(given: ContextLike) {
      const context = given as Context
      const found = await endpoint.lookUp(new HonoExchange<Context>(context))
      replace(context, beside(headersOf(context), found))
      return context.res
    },
  })
}

const NO_ANSWER = { status: 200, headers: [], body: new Uint8Array() }

/** Of middlewares in front, such as for CORS. To look at `res` would make one, whose headers Hono then adds. */
function headersOf(context: ContextLike): Announced {
  return [...context.body(null).headers]
}

function beside(inFront: Announced, answer: HttpAnswer): Response {
  return responseOf({ ...answer, headers: besides(inFront, answer.headers) })
}

/** Hono adds the headers of the answer before to the next one, unless it is forgotten. */
function replace(context: ContextLike, response: Response): void {
  context.res = undefined
  context.res = response
}
