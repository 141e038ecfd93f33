import { invalid } from '../checks.ts'
import type { Idempotency } from '../idempotency.ts'
import type { Fingerprints } from '../fingerprint/fingerprint.ts'
import { jsonCodec } from '../response/codec.ts'
import type { Denied, Duplicate, QuotaExceeded } from '../result.ts'
import type { SameAsFirst, Shape } from '../shape.ts'
import { firstErrorIn } from '../call/context.ts'
import { decodeAnswer, encodeAnswer, type HttpAnswer } from './answer.ts'
import { callOf } from './call.ts'
import { withoutCoding } from './content-coding.ts'
import { type Announced, announcing, exposedBy, NO_STORE } from './announce.ts'
import type { Exchange, Handle, Served, ServedByUs } from './exchange.ts'
import { endOf, NotStored, refusalOf } from './handled.ts'
import { keyIn } from './key-header.ts'
import type { EndpointOptions } from './options.ts'
import { answerTo } from './outcome.ts'
import { type ResolvedEndpoint, resolveEndpoint } from './resolve-options.ts'
import { Refusal } from './refusal.ts'
import { fingerprintOfRequest } from './request-fingerprint.ts'
import { storedBy } from './stored-headers.ts'

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
    if (typeof (Object(idempotency) as Partial<typeof idempotency>).withOptions !== 'function') {
      throw invalid('an endpoint is made of what createIdempotency returns')
    }
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
      const found = await answerTo(result, this.#announced, this.maxResponseBytes)
      // The key is no part of what a cache knows an answer by, and the caller perhaps neither.
      return { by: 'us', answer: { ...found, headers: [...found.headers, NO_STORE] } }
    })
    return answer
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
        const { call, declared } = callOf(tx, context, body)
        const answer = await handle(call)
        const end = endOf(answer, declared(), finalStatuses)
        if (end === 'rolled back') throw new NotStored(answer, firstErrorIn(context))
        answered = answer
        const stored = await withoutCoding(answer, this.maxResponseBytes)
        return end === 'refused' ? context.reject(stored) : stored
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
