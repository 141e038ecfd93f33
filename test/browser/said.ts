// Runs in the browser: what came of an intent, as far as JSON can say it.
import {
  IdempotentFetchError,
  type IdempotentFetchErrorCode,
  type IdempotentOutcome,
} from 'oncely/client'

/** Of an answer, or of an error, which has a code. */
export interface Said {
  readonly key: string
  readonly attempts: number
  readonly status?: number | undefined
  readonly replayed?: boolean
  /** `Idempotency-Key-Retention`, or null where the page cannot see it. */
  readonly retention?: string | null
  readonly order?: Readonly<Record<string, unknown>>
  readonly code?: IdempotentFetchErrorCode
  /** The name of the last error. */
  readonly causedBy?: string | undefined
}

/** @throws any other error than the one that clients are told to catch. */
export async function said(sending: Promise<IdempotentOutcome>): Promise<Said> {
  try {
    const { response, ...outcome } = await sending
    const retention = response.headers.get('idempotency-key-retention')
    const order = (await response.json()) as Record<string, unknown>
    return { ...outcome, status: response.status, retention, order }
  } catch (error) {
    if (!(error instanceof IdempotentFetchError)) throw error
    const { code, key, attempts, response, cause } = error
    const causedBy = cause instanceof Error ? cause.name : undefined
    return { code, key, attempts, status: response?.status, causedBy }
  }
}
