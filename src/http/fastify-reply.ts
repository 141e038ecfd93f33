import type { HttpAnswer } from './answer.ts'
import { Mask } from './mask.ts'
import type { RequestLike } from './node-request.ts'
import { Outlet } from './outlet.ts'
import { type ResponseLike, send } from './response-like.ts'
import type { TakenResponse } from './taken-response.ts'

/** What is used of a request of Fastify. */
export interface FastifyRequestLike {
  /** Node's own. */
  readonly raw: RequestLike
}

/** What is used of a reply of Fastify. */
export interface FastifyReplyLike {
  /** Node's own response. */
  readonly raw: ResponseLike
  /** As of a reply: with those that are on Node's response. */
  getHeaders(): Readonly<Record<string, number | string | readonly string[] | undefined>>
  /** As of a reply. */
  header(name: never, value?: never): unknown
  /** As of a reply. */
  removeHeader(name: never): unknown
  /** As of a reply: what is sent is no more Fastify's. */
  hijack(): unknown
  /** As of a reply. */
  send(payload?: never): unknown
}

/** The same with whatever names its application has made known to its types. */
interface AnyReply {
  readonly sent: boolean
  readonly log: { error(details: object, message: string): unknown }
  header(name: string, value: unknown): unknown
  removeHeader(name: string): unknown
  send(payload?: unknown): unknown
}

/** A reply of Fastify: its headers are on itself until it sends them, and errors are sent as payloads. */
export class ReplyOutlet extends Outlet {
  readonly #reply: FastifyReplyLike
  readonly #any: AnyReply
  #mask: Mask<FastifyReplyLike> | undefined
  #headersBefore: ReturnType<FastifyReplyLike['getHeaders']> | undefined

  constructor(reply: FastifyReplyLike, { raw }: FastifyRequestLike) {
    super(reply.raw, raw)
    this.#reply = reply
    this.#any = reply as unknown as AnyReply
  }

  override take(limit: number): TakenResponse {
    const [reply, any] = [this.#reply, this.#any]
    this.#headersBefore = { ...reply.getHeaders() }
    // A stream that breaks amid an answer is nothing its client has seen.
    const taken = super.take(limit, { cuts: false, failure: () => failureOf(reply) })
    const inner = any.send.bind(any)
    this.#mask = new Mask(reply)
    // By this Fastify passes what a handler has thrown, or sent, to the error handlers.
    this.#mask.method('send', (payload?: unknown) => {
      if (payload instanceof Error || ownSymbol(reply, 'isError') === true) taken.fail(payload)
      return inner(payload)
    })
    return taken
  }

  override send(answer: HttpAnswer): void {
    if (this.#reply.raw.headersSent) return
    // Those of hooks in front, such as for other origins; what is ours is written behind Fastify's back, as hooks
    // have seen it the first time.
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) {
      if (value !== undefined) this.#reply.raw.setHeader(name, value)
    }
    this.#reply.hijack()
    send(this.#reply.raw, answer)
  }

  override silence(): void {
    super.silence()
    // Fastify would complain of whoever replies behind it.
    Object.defineProperty(this.#reply, 'send', { configurable: true, value: () => this.#reply })
  }

  /** Passes an error to the error handlers, behind the hooks. */
  fail(error: unknown): void {
    const [{ raw }, any] = [this.#reply, this.#any]
    if (!any.sent) {
      any.send(error)
      return
    }
    // What is hijacked Fastify passes on no more.
    any.log.error({ err: error }, 'a hijacked reply has failed')
    if (raw.headersSent) raw.destroy()
    else send(raw, { status: 500, headers: [], body: new Uint8Array() })
  }

  override clear(): void {
    super.clear()
    this.#mask?.lift()
    const before = this.#headersBefore
    if (!before) return
    const now = this.#reply.getHeaders()
    for (const name of Object.keys(now)) if (!(name in before)) this.#any.removeHeader(name)
    for (const [name, value] of Object.entries(before)) {
      if (value !== undefined && now[name] !== value) this.#any.header(name, value)
    }
  }
}

/** Whether an error handler was asked: by a handler, a hook behind it, a serializer or a stream. */
function failureOf(reply: object): Error | undefined {
  const asked = ownSymbol(reply, 'nextErrorHandler') !== undefined
  return asked ? new Error('it was answered by an error handler') : undefined
}

/** What Fastify notes of a reply for itself, and tells in no other way. */
function ownSymbol(reply: object, name: string): unknown {
  const description = `fastify.reply.${name}`
  const symbol = Object.getOwnPropertySymbols(reply).find((one) => one.description === description)
  return symbol && Reflect.get(reply, symbol)
}
