import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import { besides } from './announce.ts'
import { answerOf, responseOf } from './answer.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { answerIn, contentOf, keysIn, targetOf, withContent } from './fetch.ts'
import type { EndpointOptions } from './options.ts'
import type { Content } from './request-fingerprint.ts'
import { UnderWay } from './under-way.ts'

/** What is used of a Context of Hono. */
export interface ContextLike {
  /** The request. */
  readonly req: {
    /** As it has come. */
    raw: Request
    /** What was made of the content by whoever has read it. */
    readonly bodyCache: Readonly<Record<string, unknown>>
    /** The content. */
    arrayBuffer(): Promise<ArrayBuffer>
    /** The content, of JSON. */
    json(): Promise<unknown>
  }
  /** The answer. */
  get res(): Response
  /** Undefined forgets the one that is there. */
  set res(response: Response | undefined)
  /** Whether somebody has answered. */
  readonly finalized: boolean
  /** What a handler has thrown. */
  readonly error: Error | undefined
}

/** A middleware of Hono that makes the handlers behind it idempotent. */
export interface IdempotentHono<DB, Context extends object> {
  (context: Context & ContextLike, next: () => Promise<void>): Promise<void>
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(context: Context): HttpCall<DB>
  /** Answers what is committed under the key of a request, such as one by GET, and executes nothing. */
  readonly lookup: (context: Context & ContextLike) => Promise<Response>
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
): IdempotentHono<DB, Context> {
  const endpoint = new Endpoint<DB, Context>(idempotency, options)
  const calls = new UnderWay<DB, Context>()
  const once = async (context: Context & ContextLike, next: () => Promise<void>) => {
    // Of middlewares in front, such as for CORS.
    const inFront = [...context.res.headers]
    let isOver = false as boolean
    const handle = async (call: HttpCall<DB>) => {
      calls.set(context, call)
      await next()
      // Its answer is not waited for any more, and another one is there.
      if (isOver) throw new Error('given up')
      if (!context.finalized) throw new Error('the handler has returned no answer')
      // Hono has made an answer of what was thrown, and goes on as if nothing had happened.
      const hasFailed = context.error !== undefined
      return { ...(await answerOf(context.res, endpoint.maxResponseBytes)), hasFailed }
    }
    // Hono adds the headers of the answer before to the next one, unless it is forgotten.
    const answer = (response: Response) => {
      context.res = undefined
      context.res = response
    }
    try {
      const served = await endpoint.serve(new HonoExchange<Context>(context), handle)
      isOver = true
      if (served.by === 'nobody') {
        await next()
        return
      }
      const given = answerIn(served)
      const headers = served.by === 'us' ? besides(inFront, given.headers) : given.headers
      answer(responseOf({ ...given, headers }))
    } catch (error) {
      isOver = true
      answer(new Response(null, { headers: inFront }))
      throw error
    }
  }
  return Object.assign(once, {
    of: (context: Context) => calls.of(context),
    async lookup(context: Context & ContextLike) {
      return responseOf(await endpoint.lookUp(new HonoExchange<Context>(context)))
    },
  })
}

class HonoExchange<Context extends ContextLike> implements Exchange<Context> {
  readonly request: Context

  constructor(context: Context) {
    this.request = context
  }

  get #raw(): Request {
    return this.request.req.raw
  }

  get method(): string {
    return this.#raw.method
  }

  get target(): string {
    return targetOf(this.#raw.url)
  }

  get keys(): readonly string[] {
    return keysIn(this.#raw.headers)
  }

  get contentType(): string | undefined {
    return this.#raw.headers.get('content-type') ?? undefined
  }

  async content(limit: number): Promise<Content> {
    const { req } = this.request
    const read = Object.keys(req.bodyCache)
    if (read.some((form) => ['arrayBuffer', 'text', 'blob'].includes(form))) {
      return { bytes: new Uint8Array(await req.arrayBuffer()) }
    }
    if (read.includes('json')) return { parsed: await req.json() }
    const content = await contentOf(this.#raw, limit)
    // For the handler to read it.
    if ('bytes' in content) req.raw = withContent(this.#raw, content.bytes)
    return content
  }
}
