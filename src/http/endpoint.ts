import { invalid } from '../checks.ts'
import type { Idempotency } from '../idempotency.ts'
import type { Fingerprints } from '../fingerprint/fingerprint.ts'
import { jsonCodec } from '../response/codec.ts'
import type { Denied, Duplicate, QuotaExceeded } from '../result.ts'
import type { SameAsFirst, Shape } from '../shape.ts'
import { firstErrorIn } from '../call/context.ts'
import { decodeAnswer, encodeAnswer, type HttpAnswer } from './answer.ts'
import { callOf, type HttpCall } from './call.ts'
import { type Announced, announcing, exposedBy, NO_STORE } from './announce.ts'
import { isEnd, NotStored, refusalOf } from './handled.ts'
import { keyIn } from './key-header.ts'
import type { EndpointOptions } from './options.ts'
import { answerTo } from './outcome.ts'
import { type ResolvedEndpoint, resolveEndpoint } from './resolve-options.ts'
import { Refusal } from './refusal.ts'
import { type Content, fingerprintOfRequest } from './request-fingerprint.ts'
import { storedBy } from './stored-headers.ts'

/** A request, as an adapter sees it. */
export interface Exchange<Request> {
  /** The framework's own, for the functions that a route gives. */
  readonly request: Request
  readonly method: string
  /** Path and query, as they were sent. */
  readonly target: string
  /** Each line of the header with the key. */
  readonly keys: readonly string[]
  readonly contentType: string | undefined
  /**
   * Reads the content, or what a parser has made of it.
   *
   * @throws Refusal `content_too_large` before more than that many octets are read.
   */
  readonly content: (limit: number) => Promise<Content>
}

/** What is to be done for a request. */
export type Served =
  /** It is not ours: the handler has not run, and is to run as if we were not there. */
  | { readonly by: 'nobody' }
  | ServedByUs
  /** The handler has run. What it answered is to be sent as it is, with these headers besides. */
  | { readonly by: 'handler'; readonly answer: HttpAnswer; readonly announced: Announced }

/** The handler has not run, or what it has answered does not count. */
interface ServedByUs {
  readonly by: 'us'
  readonly answer: HttpAnswer
}

/** The whole answer of a handler. */
interface Handled extends HttpAnswer {
  /** Whether it is what somebody has made of an error that the handler has thrown. */
  readonly hasFailed?: boolean
}

/** Runs the handler and takes its answer. */
export type Handle<DB> = (call: HttpCall<DB>) => Promise<Handled>

/** Whatever options the host's instance has. */
interface AnyShape extends Shape {
  readonly extra: Denied | Duplicate<unknown> | QuotaExceeded
  readonly codec: 'nothing'
  readonly replayed: SameAsFirst
}

/** One route, whatever the framework. */
export class Endpoint<DB, Request> {
  readonly options: ResolvedEndpoint<Request>
  /** How large an answer may be. */
  readonly maxResponseBytes: number
  readonly #idempotency: Idempotency<DB, AnyShape>
  readonly #announced: Announced

  /** @throws OncelyError `invalid_options`. */
  constructor(idempotency: Idempotency<DB, Shape>, options: EndpointOptions<Request>) {
    this.options = resolveEndpoint(options)
    if (idempotency.options.codec !== jsonCodec) {
      throw invalid('an instance with a codec: the answer of a route is stored as it is sent')
    }
    const isStored = storedBy(this.options.storedHeaders)
    this.#idempotency = idempotency.withOptions({
      // A framework runs a handler once for a request.
      retry: { attempts: 1 },
      codec: {
        keeps: 'nothing',
        encode: (answer) => encodeAnswer(answer as HttpAnswer, isStored),
        decode: decodeAnswer,
      },
    }) as Idempotency<DB, AnyShape>
    const { maxResponseBytes, replayWindowMs } = idempotency.options
    this.maxResponseBytes = maxResponseBytes
    this.#announced = announcing(replayWindowMs, this.options.exposeHeaders)
  }

  /** @throws what the handler and the functions of the route throw, and a database that is not ready. */
  async serve(exchange: Exchange<Request>, handle: Handle<DB>): Promise<Served> {
    const { methods, required, strict } = this.options
    if (!methods.includes(exchange.method.toUpperCase())) return { by: 'nobody' }
    return this.#refusing(async () => {
      const key = keyIn(exchange.keys, strict)
      if (key === undefined && !required) return { by: 'nobody' }
      if (key === undefined) throw new Refusal('key_missing')
      return this.#run(exchange, key, handle)
    })
  }

  /** What is committed under the key of a request, whatever it was sent with. Executes nothing. */
  async lookUp(exchange: Exchange<Request>): Promise<HttpAnswer> {
    const { strict, deadlineMs } = this.options
    const { answer } = await this.#refusing<ServedByUs>(async () => {
      const key = keyIn(exchange.keys, strict)
      if (key === undefined) throw new Refusal('key_missing')
      const scope = await this.#scopeOf(exchange)
      const result = await this.#idempotency.lookup(scope, key, 'any', { deadlineMs })
      return { by: 'us', answer: await answerTo(result, this.#announced, this.maxResponseBytes) }
    })
    // The key is no part of what a cache knows an answer by, and the caller perhaps neither.
    return { ...answer, headers: [...answer.headers, NO_STORE] }
  }

  async #run(exchange: Exchange<Request>, key: string, handle: Handle<DB>): Promise<Served> {
    const { finalStatuses, deadlineMs } = this.options
    const scope = await this.#scopeOf(exchange)
    const { fingerprints, body } = await this.#fingerprintsOf(exchange)
    let answered: HttpAnswer | undefined
    const running = this.#idempotency.withIdempotency(
      scope,
      key,
      fingerprints,
      async (tx, context) => {
        const { call, isFinal } = callOf(tx, context, body)
        const answer = await handle(call)
        const { status, hasFailed = false } = answer
        // What it has declared was not the answer that somebody has made of its error.
        const isRejected = isFinal() && !hasFailed
        if (!isEnd(answer, isRejected)) throw new NotStored(answer, firstErrorIn(context))
        answered = answer
        const isRefused = status >= 400 && (isRejected || finalStatuses.includes(status))
        if (isRefused) return context.reject(answer)
        if (status >= 400 || hasFailed) throw new NotStored(answer, firstErrorIn(context))
        return answer
      },
      { deadlineMs },
    )
    const result = await running.catch((error: unknown) => {
      if (error instanceof NotStored) return error
      throw error
    })
    if (result instanceof NotStored) return { by: 'handler', answer: result.answer, announced: [] }
    const isFirst = result.kind === 'executed' || (result.kind === 'rejected' && !result.replayed)
    if (isFirst && answered) return { by: 'handler', answer: answered, announced: this.#announced }
    return { by: 'us', answer: await answerTo(result, this.#announced, this.maxResponseBytes) }
  }

  async #scopeOf({ request }: Exchange<Request>) {
    const { operation, principal } = this.options
    const { tenant, actor } = Object(await principal(request)) as Record<'tenant' | 'actor', string>
    return { tenant, actor, operation }
  }

  async #fingerprintsOf(
    exchange: Exchange<Request>,
  ): Promise<{ fingerprints: Fingerprints; body: Uint8Array | undefined }> {
    const { fingerprint, maxRequestBytes, operation } = this.options
    const { request, method, target, contentType } = exchange
    if (fingerprint) return { fingerprints: await fingerprint(request), body: undefined }
    const content = await exchange.content(maxRequestBytes)
    const [path = '', ...query] = target.split('?')
    const parts = { method, path, query: query.join('?'), contentType, content }
    return {
      fingerprints: fingerprintOfRequest(operation, parts),
      body: 'bytes' in content ? content.bytes : undefined,
    }
  }

  async #refusing<Of extends Served>(run: () => Promise<Of>): Promise<Of | ServedByUs> {
    try {
      return await run()
    } catch (error) {
      const refusal = error instanceof Refusal ? error : refusalOf(error)
      if (!refusal) throw error
      const answer = refusal.answer(this.options.describedBy)
      const headers = [...answer.headers, ...exposedBy(this.#announced)]
      return { by: 'us', answer: { ...answer, headers } }
    }
  }
}
