/** What a caller makes of an answer: whether to ask again, and what it was told. */
export interface Reading {
  /**
   * - `executed`: this very call took effect.
   * - `rejected`: this very call was refused for good, and nothing took effect.
   * - `again`: nothing is certain yet, so the same call is to be made again.
   * - `unknown`: likewise, and this call may have taken effect.
   * - `final`: any other last word, such as a replay.
   */
  readonly says: 'executed' | 'rejected' | 'again' | 'unknown' | 'final'
  /** What every last word has to agree on, such as the value, or a body and its status. */
  readonly answer?: unknown
}

/** The results of `withIdempotency`, or of anything that passes them on. */
export function readByKind(result: unknown): Reading {
  const { kind, value, refusal, replayed } = Object(result) as Record<string, unknown>
  switch (kind) {
    case 'executed':
    case 'applied':
      return { says: 'executed', answer: value }
    case 'unknown':
      return { says: 'unknown' }
    case 'in_progress':
    case 'quota_exceeded':
      return { says: 'again' }
    case 'replayed':
      return { says: 'final', answer: value }
    case 'rejected':
      return { says: replayed === false ? 'rejected' : 'final', answer: refusal }
    default:
      return { says: 'final', answer: kind === undefined ? result : kind }
  }
}
