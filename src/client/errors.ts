import { OncelyError } from '../errors.ts'

/**
 * What became of an intent that has no answer:
 * - `key_reused`: another request was sent with its key before. Nothing was done for this one.
 * - `key_expired`: it took effect, too long ago for its answer to be there.
 * - `outcome_unknown`: it may have taken effect or not. Keep the key, and send the same again with it.
 */
export type IdempotentFetchErrorCode = 'key_reused' | 'key_expired' | 'outcome_unknown'

/** An intent that was sent and has no answer of its own. It has what it takes to send it again. */
export class IdempotentFetchError extends OncelyError {
  declare readonly code: IdempotentFetchErrorCode
  /** The key, without quotes. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970. */
  readonly since: number
  /** How often it was sent by this call. */
  readonly attempts: number
  /** The last answer, if one has come; its content can be read. `cause` has the last error, if one came behind it. */
  readonly response: Response | undefined

  /** @internal */
  constructor(
    code: IdempotentFetchErrorCode,
    message: string,
    sent: {
      readonly key: string
      readonly since: number
      readonly attempts: number
      readonly response?: Response | undefined
      readonly cause?: unknown
    },
  ) {
    super(code, message, 'cause' in sent ? { cause: sent.cause } : {})
    this.key = sent.key
    this.since = sent.since
    this.attempts = sent.attempts
    this.response = sent.response
  }
}
