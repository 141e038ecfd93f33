import { OncelyError } from '../errors.ts'
import type { Idempotency } from '../idempotency.ts'
import type { Shape } from '../shape.ts'
import { answerOf, bytesOf, type HttpAnswer, responseOf } from './answer.ts'
import type { HttpCall } from './call.ts'
import { Endpoint } from './endpoint.ts'
import type { Exchange, Served } from './exchange.ts'
import type { EndpointOptions } from './options.ts'
import { KEY_HEADER } from './key-header.ts'
import { Refusal } from './refusal.ts'
import type { Content } from './request-fingerprint.ts'
import { UnderWay } from './under-way.ts'

/** Answers a request of the web, as servers and test clients of the fetch standard take it. */
export type FetchHandler = (request: Request) => Promise<Response> | Response

/** Makes handlers of the fetch standard idempotent. */
export interface IdempotentFetch<DB> {
  /**
   * @returns the same handler, which runs once for a key; whoever comes later gets the first answer. It
   * throws what the handler throws.
   */
  (handler: FetchHandler): (request: Request) => Promise<Response>
  /**
   * The transaction and the context of a request, for its handler.
   *
   * @throws OncelyError `call_missing`.
   */
  of(request: Request): HttpCall<DB>
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
  const once = (handler: FetchHandler) => async (request: Request) => {
    // What reads it for a fingerprint leaves it to be read by the handler.
    const seen = options.fingerprint && !request.bodyUsed ? request.clone() : request
    const served = await endpoint.serve(new FetchExchange(seen), async (call) => {
      // Read for its fingerprint, it can be read again.
      const given = call.body ? withContent(request, call.body) : request
      calls.set(given, call)
      return answerOf(await handler(given), endpoint.maxResponseBytes)
    })
    return served.by === 'nobody' ? handler(request) : responseOf(answerIn(served))
  }
  return Object.assign(once, {
    of: (request: Request) => calls.of(request),
    async lookup(request: Request) {
      return responseOf(await endpoint.lookUp(new FetchExchange(request)))
    },
  })
}

/** What is sent of what was served. */
export function answerIn(served: Exclude<Served, { by: 'nobody' }>): HttpAnswer {
  if (served.by === 'us') return served.answer
  const { answer, announced } = served
  return { ...answer, headers: [...answer.headers, ...announced] }
}

/** The same request, to be read again; also behind a client that has hung up, which changes nothing. */
export function withContent({ url, method, headers }: Request, bytes: Uint8Array): Request {
  return new Request(url, { method, headers, body: Uint8Array.from(bytes) })
}

class FetchExchange implements Exchange<Request> {
  readonly request: Request

  constructor(request: Request) {
    this.request = request
  }

  get method(): string {
    return this.request.method
  }

  get target(): string {
    return targetOf(this.request.url)
  }

  get keys(): readonly string[] {
    return keysIn(this.request.headers)
  }

  get contentType(): string | undefined {
    return this.request.headers.get('content-type') ?? undefined
  }

  content(limit: number): Promise<Content> {
    return contentOf(this.request, limit)
  }
}

/** Path and query of a URL. */
export function targetOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Several lines come as one: what is no key by itself is none with a comma. */
export function keysIn(headers: Headers): readonly string[] {
  const line = headers.get(KEY_HEADER)
  return line === null ? [] : [line]
}

/** @throws Refusal `content_too_large` or `content_encoded`; OncelyError `content_consumed`. */
export async function contentOf(request: Request, limit: number): Promise<Content> {
  const { headers, body, bodyUsed } = request
  // There is nothing left of it, as of a request without content.
  if (bodyUsed) {
    throw new OncelyError(
      'content_consumed',
      'the content was read before: put the middleware in front of what reads it, or give `fingerprint`',
    )
  }
  checkHead(headers.get('content-length'), headers.get('content-encoding'), limit)
  const bytes = await bytesOf(body, limit)
  if (!bytes) throw new Refusal('content_too_large')
  return { bytes }
}

/** What can be said before anything is read. */
export function checkHead(
  length: string | null | undefined,
  encoding: string | null | undefined,
  limit: number,
): void {
  if (Number(length ?? 0) > limit) throw new Refusal('content_too_large')
  if (encoding && encoding.toLowerCase() !== 'identity') throw new Refusal('content_encoded')
}
