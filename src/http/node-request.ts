import { bytesOf } from './answer.ts'
import { checkHead, consumed, type Content, isKeptAsText, unread } from './content.ts'
import type { Exchange } from './exchange.ts'
import { KEY_HEADER } from './key-header.ts'
import { Refusal } from './refusal.ts'
import { isWhole } from './request-fingerprint.ts'

/** What is used of an IncomingMessage of Node. */
export interface RequestLike {
  /** As of an IncomingMessage. */
  readonly method?: string | undefined
  /** As of an IncomingMessage: path and query. */
  readonly url?: string | undefined
  /** As of an IncomingMessage, by names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Each line, where a header stands more than once. HTTP/2 has none. */
  readonly headersDistinct?: Readonly<Record<string, string[] | undefined>>
  /** Whether somebody has begun to read it. */
  readonly readableDidRead: boolean
  /** As of a Readable. */
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<Uint8Array>
}

/** What parsers of Node's frameworks leave on a request. */
export interface ParsedLike {
  readonly body?: unknown
  /** The octets beside what was made of them, where a host keeps them, such as NestJS by `rawBody`. */
  readonly rawBody?: unknown
  /** With the path of whatever the router is mounted at. */
  readonly originalUrl?: string | undefined
}

/** Fastify has read by its parsers whatever is not for the handler. */
export const alwaysUnread = () => true

/** Of NestJS on Express: what an interceptor behind reads, such as for files that are uploaded. */
export const formsUnread = (contentType = '') => /^multipart\//i.test(contentType)

/** A request of Node, or of a framework on it. */
export class NodeExchange<Request extends object> implements Exchange<Request> {
  readonly request: Request
  readonly #message: RequestLike
  readonly #parsed: ParsedLike

  readonly #leavesUnread: (contentType: string | undefined) => boolean

  /**
   * @param message - Node's own, where the framework has put a request of its own in front of it.
   * @param leavesUnread - whether what nobody has read by now is left for the handler to read.
   */
  constructor(
    request: Request,
    message: RequestLike = request as RequestLike,
    leavesUnread: (contentType: string | undefined) => boolean = () => false,
  ) {
    this.request = request
    this.#message = message
    this.#parsed = request
    this.#leavesUnread = leavesUnread
  }

  get method(): string {
    return this.#message.method ?? ''
  }

  get target(): string {
    const { originalUrl } = this.#parsed
    // A proxy is sent the whole URL (RFC 9112, section 3.2.2), and may pass it on.
    return (originalUrl ?? this.#message.url ?? '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  }

  get keys(): readonly string[] {
    const { headers, headersDistinct } = this.#message
    // HTTP/2 has joined the lines.
    const lines = (headersDistinct ?? headers)[KEY_HEADER] ?? []
    return typeof lines === 'string' ? [lines] : lines
  }

  get contentType(): string | undefined {
    return this.#header('content-type')
  }

  async content(limit: number): Promise<Content> {
    if (this.#message.readableDidRead) return this.#read()
    const length = this.#header('content-length')
    const hasContent = Number(length ?? 0) > 0 || this.#header('transfer-encoding') !== undefined
    if (hasContent && this.#leavesUnread(this.contentType)) throw unread()
    checkHead(length, this.#header('content-encoding'), limit)
    const bytes = await this.#all(limit)
    if (!bytes) throw new Refusal('content_too_large')
    // Somebody has read it in another way, such as a platform that hands over requests of its own.
    return bytes.length === 0 && hasContent && this.#parsed.body !== undefined
      ? this.#read()
      : { bytes }
  }

  async #all(limit: number): Promise<Uint8Array | undefined> {
    try {
      // Left as it is, so that its connection can carry the answer.
      return await bytesOf(this.#message.iterator({ destroyOnReturn: false }), limit)
    } catch (error) {
      // Its client is gone, and hears of it no more.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
      throw new Refusal('content_malformed', { detail: 'It was not sent whole.' })
    }
  }

  /** @throws OncelyError `content_consumed`. */
  #read(): Content {
    const { body, rawBody } = this.#parsed
    if (rawBody instanceof Uint8Array) return { bytes: rawBody }
    if (body instanceof Uint8Array) return { bytes: body }
    if (typeof body === 'string') {
      const bytes = Buffer.from(body)
      if (isKeptAsText(bytes)) return { bytes }
    } else if (body !== undefined && isWhole(this.contentType)) {
      return { parsed: body }
    }
    throw consumed()
  }

  #header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
}
