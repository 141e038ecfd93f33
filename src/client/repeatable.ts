import { invalid } from '../checks.ts'
import { raced } from './bounds.ts'
import type { Call } from './call.ts'
import { repeatableContent } from './contents.ts'
import { madeOf, misuse } from './misuse.ts'

/** A request that can be sent as often as it takes, with the same octets. */
export interface Repeatable {
  /** Absolute, so that it is the same in each attempt. */
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly content: ArrayBuffer | null
  /** What else is said to `fetch`. */
  readonly said: RequestInit
  /** On Node the signal of a Request hears of its caller's only as long as that is held. */
  readonly holds: unknown
}

/** What of a Request is said again to `fetch`, beside method, headers, content and signal. */
const fields = [
  ...(['cache', 'credentials', 'integrity', 'keepalive', 'mode'] as const),
  ...(['redirect', 'referrer', 'referrerPolicy'] as const),
]

/**
 * The caller's signal.
 *
 * @throws OncelyError `invalid_options` where it is none.
 */
export function signalOf(
  input: string | URL | Request,
  init: RequestInit,
): AbortSignal | undefined {
  const signal = init.signal === undefined && isRequest(input) ? input.signal : init.signal
  if (signal === undefined || signal === null) return undefined
  const { aborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return signal
  // It is the platform's to say what is wrong with it.
  madeOf(() => new Request('http://localhost/', { signal }))
  throw invalid('signal must be an AbortSignal')
}

/**
 * Reads the content once. A form would be sent with another boundary each time, and a stream only once.
 *
 * @throws OncelyError `invalid_options` for what cannot be sent, or not again, and for a method that reads.
 */
export async function repeatable(
  input: string | URL | Request,
  init: RequestInit,
  call: Call,
): Promise<Repeatable> {
  const { body, signal: _signal, ...said } = init
  const content = await raced(call.signal, () => repeatableContent(body))
  const request = madeOf(
    () =>
      new Request(input, {
        ...said,
        signal: null,
        ...(content !== undefined && { body: content }),
      }),
  )
  const { method, url, mode } = request
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)) {
    throw invalid(`method must be one that writes, and is ${method}`)
  }
  if (mode === 'no-cors') throw invalid("mode must not be 'no-cors': its answers cannot be seen")
  const octets = await raced(call.signal, () => request.arrayBuffer()).catch((cause: unknown) => {
    throw call.signal.aborted ? cause : misuse(cause)
  })
  const ofRequest = isRequest(input)
    ? Object.fromEntries(fields.map((name) => [name, request[name]]))
    : {}
  return {
    url,
    method,
    headers: new Headers(request.headers),
    content: octets.byteLength > 0 ? octets : null,
    said: { ...ofRequest, ...said },
    holds: input,
  }
}

/** Also of another implementation. */
export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && 'url' in input && 'headers' in input
}
