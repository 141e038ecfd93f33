import type { Resource } from '../result.ts'
import { NO_STORE } from './announce.ts'
import type { HttpAnswer } from './answer.ts'

/**
 * What a request is refused with, as a stable string: it is `code` in the answer, and the end of its
 * `type`. Each has one status and one title; those of the three that the draft names say what it says.
 */
const refusals = {
  key_missing: [400, 'Idempotency-Key is missing'],
  key_malformed: [400, 'Idempotency-Key is malformed'],
  key_reused: [422, 'Idempotency-Key is already used'],
  request_outstanding: [409, 'A request is outstanding for this Idempotency-Key'],
  key_expired: [410, 'The response for this Idempotency-Key is no longer kept'],
  key_absent: [404, 'Nothing is committed for this Idempotency-Key'],
  access_denied: [403, 'The response for this Idempotency-Key may not be seen'],
  duplicate: [409, 'The same was done for another Idempotency-Key'],
  quota_exceeded: [429, 'Too many new Idempotency-Keys'],
  outcome_unknown: [503, 'It is not known yet whether the request took effect'],
  unavailable: [503, 'The request took no effect and may be sent again'],
  content_too_large: [413, 'The content of the request is too large'],
  content_malformed: [400, 'The content of the request is malformed'],
  content_ambiguous: [400, 'The content of the request does not keep its meaning'],
  content_encoded: [415, 'The content of the request is encoded'],
  response_too_large: [500, 'The response is too large to be kept'],
} as const satisfies Record<string, readonly [status: number, title: string]>

/** Which refusal an answer is, as its `code` says. */
export type RefusalCode = keyof typeof refusals

interface Details {
  /** For the reader: what to do. */
  readonly detail?: string
  /** When it is worth to ask again, in milliseconds. */
  readonly retryAfterMs?: number
  /** What the first request has made. */
  readonly resource?: Resource | undefined
}

/** A request that is answered by us. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly #details: Details

  constructor(code: RefusalCode, details: Details = {}) {
    super(refusals[code][1])
    this.code = code
    this.#details = details
  }

  /**
   * As `application/problem+json` (RFC 9457), with a Link to what describes it (RFC 8288).
   *
   * @param describedBy - a URL.
   */
  answer(describedBy: string): HttpAnswer {
    const { code } = this
    const [status, title] = refusals[code]
    const { detail, retryAfterMs, resource } = this.#details
    const problem = { type: `urn:oncely:problem:${code}`, title, status, code, detail, resource }
    const headers: (readonly [string, string])[] = [
      ['content-type', 'application/problem+json'],
      NO_STORE,
      ['link', `<${describedBy}>; rel="describedby"`],
    ]
    // What was not read of it is still on its way.
    if (code === 'content_too_large') headers.push(['connection', 'close'])
    if (retryAfterMs !== undefined) headers.push(['retry-after', delaySeconds(retryAfterMs)])
    return { status, headers, body: Buffer.from(JSON.stringify(problem)) }
  }
}

/** As `Retry-After` has it (RFC 9110, section 10.2.3): whole seconds, and never to come back at once. */
function delaySeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}
