import { OncelyError } from '../errors.ts'

/**
 * What became of an intent that has no answer:
 * - `key_reused`: another request was sent with its key before. Nothing was done for this one.
 * - `key_expired`: it took effect, too long ago for its answer to be there.
 * - `outcome_unknown`: it may have taken effect or not. Keep the key, and send the same again with it.
 * - `retention_exceeded`: the same, and the server may not know the key any more: it is not sent again, as it could
 *   take effect once more. Look at what was made.
 */
export type IdempotentFetchErrorCode =
  'key_reused' | 'key_expired' | 'outcome_unknown' | 'retention_exceeded'

const messages = {
  key_reused: 'the key was used for another request before; this one was not done',
  key_expired: 'it took effect before, and its answer is not kept any more',
  outcome_unknown: 'it is not known whether it took effect: send the same again with the same key',
  retention_exceeded:
    'the server may not know the key any more: nothing was sent again; look at what was made',
} as const satisfies Record<IdempotentFetchErrorCode, string>

/** An intent that was sent and has no answer of its own. It has what it takes to send it again. */
export class IdempotentFetchError extends OncelyError {
  /** For those who print it. */
  override readonly name = 'IdempotentFetchError'
  declare readonly code: IdempotentFetchErrorCode
  /** The key, without quotes. */
  readonly key: string
  /** When it was first sent, in milliseconds since 1970. */
  readonly since: number
  /**
   * For how long the server knows the key, in milliseconds, as it has announced it or as it was kept; undefined where
   * neither is known.
   */
  readonly retentionMs: number | undefined
  /** How often it was sent by this call. */
  readonly attempts: number
  /** The last answer, if one has come; its content can be read. `cause` has the last error, if one came behind it. */
  readonly response: Response | undefined

  /** @internal */
  constructor(
    code: IdempotentFetchErrorCode,
    sent: {
      readonly key: string
      readonly since: number
      readonly retentionMs: number | undefined
      readonly attempts: number
      readonly response?: Response | undefined
      readonly cause?: unknown
    },
  ) {
    super(code, messages[code], 'cause' in sent ? { cause: sent.cause } : {})
    this.key = sent.key
    this.since = sent.since
    this.retentionMs = sent.retentionMs
    this.attempts = sent.attempts
    this.response = sent.response
  }
}
