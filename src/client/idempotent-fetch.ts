import { OncelyError } from '../errors.ts'
import { invalid } from '../checks.ts'
import { startCall } from './call.ts'
import { IdempotentFetchError } from './errors.ts'
import { type KeptIntent, type Sent, sentOf } from './kept.ts'
import { writeKey, writtenKey } from './key.ts'
import { type IdempotentFetchOptions, resolveOptions } from './options.ts'
import type { IdempotentOutcome } from './outcome.ts'
import { isRequest, repeatable, signalOf } from './repeatable.ts'
import { sendUntilFinal } from './send-until-final.ts'

/** What a caller wants to be done once, however often it is sent: a double click sends the same key twice. */
export interface Intent {
  /** The key, without quotes: yours to keep. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970; undefined where no attempt can have taken effect. */
  readonly since: number | undefined
  /**
   * Sends it, and again until its answer is final. Whoever sends it later is to send the same.
   *
   * @throws IdempotentFetchError where there is no answer of its own.
   * @throws OncelyError `invalid_options`, before anything is sent.
   * @throws OncelyError `deadline_exceeded`, where the deadline was over before anything was sent.
   * @throws the reason of `init.signal`, at once, when that aborts.
   */
  readonly send: (input: string | URL | Request, init?: RequestInit) => Promise<IdempotentOutcome>
}

/** As `fetch`, for requests that write. */
export interface IdempotentFetch {
  /** Sends a request with a key of its own, or with the one in its headers: an intent that is sent once. */
  (input: string | URL | Request, init?: RequestInit): Promise<IdempotentOutcome>
  /**
   * An intent, whose key is made at once.
   *
   * @param kept - one that was sent before, such as an entry of the journal, or a key of yours.
   * @throws OncelyError `invalid_options`, also where it has no key.
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
  const announced = new Map<string, number>()

  const intent = (kept?: KeptIntent): Intent => {
    const sent = sentOf(kept)
    const { key } = sent
    return {
      key,
      get since() {
        return sent.since
      },
      async send(input, given) {
        const init = given ?? {}
        if ((keyIn(input, init) ?? key) !== key) throw invalid('the headers have another key')
        const call = startCall(signalOf(input, init), options.deadlineMs)
        try {
          const request = await repeatable(input, init, call)
          writeKey(request.headers, key, options.keyFormat)
          return await sendUntilFinal(request, { options, announced, sent, call })
        } catch (error) {
          throw error === call.late ? notSent(sent, error) : error
        } finally {
          call.release()
        }
      },
    }
  }

  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const key = keyIn(input, init ?? {})
    return intent(key === undefined ? undefined : { key }).send(input, init)
  }
  return Object.assign(send, { intent })
}

/** The key that the caller has written, in `init` or else in the Request. */
function keyIn(input: string | URL | Request, init: RequestInit): string | undefined {
  return writtenKey(init.headers, isRequest(input) ? input.headers : undefined)
}

/** The deadline was over before this call has sent anything. */
function notSent({ key, since, open, retentionMs }: Sent, cause: unknown): OncelyError {
  if (open > 0 && since !== undefined) {
    return new IdempotentFetchError('outcome_unknown', {
      key,
      since,
      retentionMs,
      attempts: 0,
      cause,
    })
  }
  return new OncelyError('deadline_exceeded', 'the deadline was over before anything was sent', {
    cause,
  })
}
