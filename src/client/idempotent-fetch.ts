import { invalid } from '../checks.ts'
import { checkKey, headerOf, KEY_HEADER, keyOf, newKey } from './key.ts'
import { type IdempotentFetchOptions, resolveOptions } from './options.ts'
import { repeatable } from './repeatable.ts'
import { sendUntilFinal } from './send-until-final.ts'

/** The answer to an intent. */
export interface IdempotentOutcome {
  /** As `fetch` gives it. Its content has come whole. */
  readonly response: Response
  /** Whether the server says that it was made by an earlier attempt: `Idempotent-Replayed: true`. */
  readonly replayed: boolean
  /** How often it was sent by this call, from 1. */
  readonly attempts: number
  /** The key, without quotes. */
  readonly key: string
}

/** What a caller wants to be done once, however often it is sent: a double click sends the same key twice. */
export interface Intent {
  /** The key, without quotes: yours to keep. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970; undefined before that. */
  readonly since: number | undefined
  /**
   * Sends it, and again until its answer is final. Whoever sends it later is to send the same.
   *
   * @throws IdempotentFetchError where there is no answer of its own.
   * @throws OncelyError `invalid_options`, before anything is sent.
   * @throws the reason of `init.signal`, at once, when that aborts.
   */
  readonly send: (input: string | URL | Request, init?: RequestInit) => Promise<IdempotentOutcome>
}

/** What is to be kept of an intent: an entry of the journal has it, and so has the intent itself. */
export interface KeptIntent {
  /**
   * The key, without quotes.
   *
   * @defaultValue a new one.
   */
  readonly key?: string | undefined
  /**
   * When it was first sent, in milliseconds since 1970.
   *
   * @defaultValue never.
   */
  readonly since?: number | undefined
}

/** As `fetch`, for requests that write. */
export interface IdempotentFetch {
  /** Sends a request with a key of its own, or with the one in its headers: an intent that is sent once. */
  (input: string | URL | Request, init?: RequestInit): Promise<IdempotentOutcome>
  /**
   * An intent, whose key is made at once.
   *
   * @param kept - one that was sent before, such as an entry of the journal, or a key of yours.
   * @throws OncelyError `invalid_options`.
   */
  readonly intent: (kept?: KeptIntent) => Intent
}

/**
 * A `fetch` that sends a write again with the same key until it has an answer, so that it takes effect once. For
 * browsers and servers.
 *
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * const send = createIdempotentFetch()
 * const { response } = await send('/orders', { method: 'POST', body: JSON.stringify(order) })
 * ```
 */
export function createIdempotentFetch(given: IdempotentFetchOptions = {}): IdempotentFetch {
  const options = resolveOptions(given)
  /** By the origin of the server, in milliseconds. */
  const announced = new Map<string, number>()

  const intent = (kept: KeptIntent = {}): Intent => {
    const { key = newKey() } = kept
    const sent = { since: kept.since }
    checkKey(key)
    if (sent.since !== undefined && !Number.isFinite(sent.since)) {
      throw invalid('since must be milliseconds since 1970')
    }
    return {
      key,
      get since() {
        return sent.since
      },
      async send(input, init = {}) {
        const request = await repeatable(input, init)
        const written = request.headers.get(KEY_HEADER)
        if (written !== null && keyOf(written) !== key)
          throw invalid('the headers have another key')
        if (written === null) request.headers.set(KEY_HEADER, headerOf(key, options.keyFormat))
        return sendUntilFinal(request, { key, options, announced }, sent)
      },
    }
  }

  const send = async (input: string | URL | Request, init: RequestInit = {}) => {
    const key = keyIn(input, init)
    return intent(key === undefined ? {} : { key }).send(input, init)
  }
  return Object.assign(send, { intent })
}

/** The key that the caller has written, in whatever form headers may have. */
function keyIn(input: string | URL | Request, init: RequestInit): string | undefined {
  const ofRequest = typeof input === 'object' && 'headers' in input ? input.headers : undefined
  const written = new Headers(init.headers ?? ofRequest).get(KEY_HEADER)
  return written === null ? undefined : keyOf(written)
}
