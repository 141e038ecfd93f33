import { bytesOf } from './answer.ts'
import { checkHead, consumed, type Content } from './content.ts'
import type { Exchange } from './exchange.ts'
import { KEY_HEADER } from './key-header.ts'
import { Refusal } from './refusal.ts'

/** The same request, to be read again; also behind a client that has hung up, which changes nothing. */
export function withContent({ url, method, headers }: Request, bytes: Uint8Array): Request {
  return new Request(url, { method, headers, body: Uint8Array.from(bytes) })
}

/** A request of the web. */
export class FetchExchange implements Exchange<Request> {
  readonly #request: Request
  readonly #isRead: boolean
  #copy: Request | undefined

  /** @param isRead - whether the functions of the route may read it, which leave it to be read by the handler. */
  constructor(request: Request, isRead: boolean) {
    this.#request = request
    this.#isRead = isRead
  }

  get request(): Request {
    // What was read in front has nothing to be copied.
    if (!this.#isRead || this.#request.bodyUsed) return this.#request
    return (this.#copy ??= this.#request.clone())
  }

  /** Of what nobody has read there, so that it is not kept while the handler reads the rest. */
  release(): void {
    if (this.#copy && !this.#copy.bodyUsed) this.#copy.body?.cancel().catch(() => undefined)
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    return targetOf(this.#request.url)
  }

  get keys(): readonly string[] {
    return keysIn(this.#request.headers)
  }

  get contentType(): string | undefined {
    return this.#request.headers.get('content-type') ?? undefined
  }

  content(limit: number): Promise<Content> {
    return contentOf(this.#request, limit)
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
    throw consumed()
  }
  checkHead(headers.get('content-length'), headers.get('content-encoding'), limit)
  const bytes = await bytesOf(body, limit)
  if (!bytes) throw new Refusal('content_too_large')
  return { bytes }
}
