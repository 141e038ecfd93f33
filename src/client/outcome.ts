/** The answer to an intent. */
export interface IdempotentOutcome {
  /**
   * Has what `fetch` gave: status, headers, `url`, `redirected` and `type`. Its content has come whole, however long
   * that took.
   */
  readonly response: Response
  /** Whether the server says that it was made by an earlier attempt: `Idempotent-Replayed: true`. */
  readonly replayed: boolean
  /** How often it was sent by this call, from 1. */
  readonly attempts: number
  /** The key, without quotes, as it was sent. */
  readonly key: string
}
