import { attempt } from './attempt.ts'
import { IdempotentFetchError, type IdempotentFetchErrorCode } from './errors.ts'
import type { IdempotentOutcome } from './idempotent-fetch.ts'
import type { ResolvedOptions } from './options.ts'
import { backoffMs, pause } from './pauses.ts'
import type { Repeatable } from './repeatable.ts'
import { retryAfterMs } from './retry-after.ts'

/** Whose request it is, and what is known of its server. */
interface Sender {
  readonly key: string
  readonly options: ResolvedOptions
  /** For how long a server keeps a key, in milliseconds, by its origin. */
  readonly announced: Map<string, number>
}

const messages = {
  key_reused: 'the key was used for another request before; this one was not done',
  key_expired: 'it took effect before, and its answer is not kept any more',
  outcome_unknown: 'it is not known whether it took effect: send the same again with the same key',
} as const satisfies Record<IdempotentFetchErrorCode, string>

/**
 * Sends a request until its answer is final.
 *
 * @param sent - when the intent was first sent, which is noted here.
 */
export async function sendUntilFinal(
  request: Repeatable,
  { key, options, announced }: Sender,
  sent: { since: number | undefined },
): Promise<IdempotentOutcome> {
  const { fetch, journal, deadlineMs, attemptTimeoutMs, maxAttempts } = options
  const { signal, target, headers, url, method } = request
  const { origin } = new URL(url)
  const deadline = Date.now() + deadlineMs
  signal.throwIfAborted()
  // What was sent before may have taken effect, whatever becomes of it now.
  let isUnknown = sent.since !== undefined
  const since = sent.since ?? Date.now()
  const entry = { key, since, url, method }
  await journal?.begin(entry)
  sent.since = since
  let attempts = 0
  let counted = 0
  /** Of the last attempts that had one. */
  let seen: { readonly response?: Response; readonly cause?: unknown } = {}

  const failed = (code: IdempotentFetchErrorCode) =>
    new IdempotentFetchError(code, messages[code], { key, since, attempts, ...seen })
  const forget = () => {
    void new Promise((resolve) => {
      resolve(journal?.end(entry))
    }).catch(() => undefined)
  }

  for (;;) {
    // Later than the server knows the key, it could take effect once more.
    const end = Math.min(deadline, since + (announced.get(origin) ?? options.retentionMs))
    const left = end - Date.now()
    if (left <= 0) throw failed('outcome_unknown')
    attempts += 1
    const timeoutMs = Math.min(attemptTimeoutMs, left)
    const made = await attempt(fetch, target, { ...request.init, headers }, { signal, timeoutMs })
    const { verdict } = made
    const response = 'response' in made ? made.response : undefined
    seen = 'response' in made ? { response: made.response } : { ...seen, cause: made.cause }
    if (response) learn(announced, origin, response)
    if (verdict === 'key_reused' || verdict === 'key_expired') {
      forget()
      throw failed(verdict)
    }
    if (verdict === 'final' && response) {
      forget()
      const replayed = response.headers.get('idempotent-replayed') === 'true'
      return { response, replayed, attempts, key }
    }
    isUnknown ||= verdict !== 'no effect'
    if (verdict !== 'under way') counted += 1
    const asked = response && retryAfterMs(response.headers, Date.now())
    const pauseMs = Math.max(
      asked ?? 0,
      backoffMs(Math.max(1, counted), options.minPauseMs, options.maxPauseMs),
    )
    if (counted >= maxAttempts || Date.now() + pauseMs >= end) {
      if (isUnknown || !response) throw failed('outcome_unknown')
      // Every attempt has done nothing for certain: that is an answer.
      forget()
      return { response, replayed: false, attempts, key }
    }
    await pause(pauseMs, signal)
  }
}

/** `Idempotency-Key-Retention`, in seconds. */
function learn(announced: Map<string, number>, origin: string, { headers }: Response): void {
  const seconds = headers.get('idempotency-key-retention') ?? ''
  if (/^\d{1,9}$/.test(seconds)) announced.set(origin, Number(seconds) * 1_000)
}
