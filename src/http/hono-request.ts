import { consumed, type Content, isKeptAsText } from './content.ts'
import type { Exchange } from './exchange.ts'
import { contentOf, keysIn, targetOf, withContent } from './fetch-request.ts'

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
  /** An answer with what was set for it so far. */
  body(content: null): Response
  /** The answer. */
  get res(): Response
  /** Undefined forgets the one that is there. */
  set res(response: Response | undefined)
  /** Whether somebody has answered. */
  readonly finalized: boolean
  /** What a handler has thrown. */
  readonly error: Error | undefined
}

/** A request of Hono. */
export class HonoExchange<Context extends ContextLike> implements Exchange<Context> {
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
      const bytes = new Uint8Array(await req.arrayBuffer())
      if (!read.includes('text') || isKeptAsText(bytes)) return { bytes }
      throw consumed()
    }
    if (read.includes('json')) return { parsed: await req.json() }
    const content = await contentOf(this.#raw, limit)
    // For the handler to read it.
    if ('bytes' in content) req.raw = withContent(this.#raw, content.bytes)
    return content
  }
}
