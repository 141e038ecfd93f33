/** What an answer means for the intent. */
export type Verdict =
  /** It is the last word. */
  | 'final'
  /** It is the last word where no earlier attempt can have taken effect: anybody on the way may have said it. */
  | 'refused'
  /** The first attempt is under way. */
  | 'under way'
  /** This attempt has done nothing for certain. */
  | 'no effect'
  /** Nobody knows. */
  | 'unknown'
  /** Nobody knows, and to send it again would tell no more. */
  | 'dead end'
  | 'key_reused'
  | 'key_expired'

/** @param content - of the answer. */
export function verdictOn(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  content: ArrayBuffer,
): Verdict {
  const code = codeOf(headers, content)
  switch (status) {
    case 409:
      // Of another server, by the header.
      if (code === 'request_outstanding' || (code === undefined && headers.has('retry-after'))) {
        return 'under way'
      }
      break
    case 410:
      if (code === 'key_expired') return code
      break
    case 422:
      if (code === 'key_reused') return code
      break
    case 425:
    case 429:
      return 'no effect'
    case 503:
      return code === 'unavailable' ? 'no effect' : 'unknown'
    case 408:
    case 500:
    case 502:
    case 504:
      return 'unknown'
    default:
  }
  if ((status >= 200 && status < 400) || isOfEndpoint(headers, code)) return 'final'
  return status >= 400 && status < 500 ? 'refused' : 'dead end'
}

/** Whether it is the idempotent endpoint that says this of the key, and nobody in front of it. */
function isOfEndpoint(headers: Headers, code: unknown): boolean {
  return (
    headers.get('idempotent-replayed') === 'true' ||
    headers.has('idempotency-key-retention') ||
    code === 'duplicate' ||
    code === 'access_denied'
  )
}

/** What a problem (RFC 9457) says it is. */
function codeOf(headers: Headers, content: ArrayBuffer): unknown {
  const type = headers.get('content-type') ?? ''
  if (!/^application\/problem\+json\s*(?:;|$)/i.test(type)) return undefined
  try {
    const problem: unknown = JSON.parse(new TextDecoder().decode(content))
    return (Object(problem) as { code?: unknown }).code
  } catch {
    return undefined
  }
}
