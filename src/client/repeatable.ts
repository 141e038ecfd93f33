import { invalid } from '../checks.ts'

/** A request that can be sent as often as it takes, with the same octets. */
export interface Repeatable {
  /** What `fetch` is called with. */
  readonly target: string | URL
  /** The same, as an absolute URL. */
  readonly url: string
  readonly init: RequestInit
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  /** On Node a signal of theirs hears of its caller's only as long as they are held. */
  readonly holds: readonly unknown[]
}

/** What of a Request is said again to `fetch`, beside method, headers, content and signal. */
const fields = [
  ...(['cache', 'credentials', 'integrity', 'keepalive', 'mode'] as const),
  ...(['redirect', 'referrer', 'referrerPolicy'] as const),
]

/**
 * Reads the content once. A form would be sent with another boundary each time, and a stream only once.
 *
 * @throws OncelyError `invalid_options` for a content that can be read only once, and a method that reads.
 */
export async function repeatable(
  input: string | URL | Request,
  init: RequestInit,
): Promise<Repeatable> {
  if (isStream(init.body)) {
    throw invalid('the content is a stream, which can be sent once: read it into a Blob before')
  }
  const request = new Request(input, init)
  const { method, url, headers, signal } = request
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)) {
    throw invalid(`method must be one that writes, and is ${method}`)
  }
  const content = await request.arrayBuffer()
  const isRequest = typeof input === 'object' && 'url' in input
  const said = isRequest ? Object.fromEntries(fields.map((name) => [name, request[name]])) : {}
  return {
    target: isRequest ? url : input,
    url,
    method,
    headers: new Headers(headers),
    signal,
    holds: [input, request],
    init: { ...said, ...init, method, body: content.byteLength > 0 ? content : null },
  }
}

function isStream(body: unknown): boolean {
  return body instanceof ReadableStream || Symbol.asyncIterator in Object(body)
}
