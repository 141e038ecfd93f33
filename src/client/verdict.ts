/** What an answer means for the intent. */
export type Verdict =
  /** It is the last word. */
  | 'final'
  /** The first attempt is under way. */
  | 'under way'
  /** This attempt has done nothing for certain. */
  | 'no effect'
  /** Nobody knows. */
  | 'unknown'
  | 'key_reused'
  | 'key_expired'

/** @param content - of the answer. */
export function verdictOn({ status, headers }: Response, content: ArrayBuffer): Verdict {
  const code = codeOf(headers, content)
  switch (status) {
    case 409:
      // Of another server, by the header.
      return code === 'request_outstanding' || (code === undefined && headers.has('retry-after'))
        ? 'under way'
        : 'final'
    case 410:
      return code === 'key_expired' ? code : 'final'
    case 422:
      return code === 'key_reused' ? code : 'final'
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
      return 'final'
  }
}

/** What a problem (RFC 9457) says it is. */
function codeOf(headers: Headers, content: ArrayBuffer): unknown {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) return undefined
  try {
    const problem: unknown = JSON.parse(new TextDecoder().decode(content))
    return (Object(problem) as { code?: unknown }).code
  } catch {
    return undefined
  }
}
