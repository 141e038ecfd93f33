import { attempt } from './attempt.ts'
import type { Call } from './call.ts'
import { IdempotentFetchError, type IdempotentFetchErrorCode } from './errors.ts'
import { beginEntry, endEntry } from './journal.ts'
import type { Sent } from './kept.ts'
import type { ResolvedOptions } from './options.ts'
import type { IdempotentOutcome } from './outcome.ts'
import { pause, pauseMsOf } from './pauses.ts'
import type { Repeatable } from './repeatable.ts'
import { type Announced, knownRetentionMs, learn, pathOf } from './retention.ts'
import { retryAfterMs } from './retry-after.ts'

/** Whose request it is, and what is known of its server. */
interface Sender {
  readonly options: ResolvedOptions
  readonly announced: Announced
  readonly sent: Sent
  readonly call: Call
}

/** Whoever is refused by these may be let in later, with the same. */
const ASKING_WHO_IT_IS = [401, 407]

/**
 * Sends a request until its answer is final, and notes of the intent what may have become of it.
 *
 * @throws the `late` of the call where the deadline was over before anything was sent.
 */
export async function sendUntilFinal(
  request: Repeatable,
  { options, announced, sent, call }: Sender,
): Promise<IdempotentOutcome> {
  const { journal, attemptTimeoutMs } = options
  const { key } = sent
  const { url, method } = request
  const path = pathOf(url)
  const since = sent.since ?? Date.now()
  const known = () => knownRetentionMs(announced, path, sent.retentionMs)
  /** Later than the server knows the key, what may have taken effect could take effect once more. */
  const repeatableForMs = () =>
    sent.open > 0 ? since + (known() ?? options.retentionMs) - call.now() : Infinity
  const retentionMs = known()
  const entry = { key, since, ...(retentionMs !== undefined && { retentionMs }), url, method }
  await beginEntry(journal, entry, call)

  let attempts = 0
  let counted = 0
  /** Of the last attempts that had one. */
  let seen: { readonly response?: Response; readonly cause?: unknown } = {}
  const failed = (code: IdempotentFetchErrorCode) =>
    new IdempotentFetchError(code, { key, since, retentionMs: known(), attempts, ...seen })
  const answer = (response: Response) => {
    const replayed = response.headers.get('idempotent-replayed') === 'true'
    return { response, replayed, attempts, key }
  }
  const settle = () => endEntry(journal, entry, call, attemptTimeoutMs)
  const giveUp = (pauseMs = 0) => {
    // Every attempt has done nothing for certain: that is an answer.
    if (sent.open === 0 && seen.response) return answer(seen.response)
    if (sent.open === 0) throw call.late
    const isOver = repeatableForMs() <= (pauseMs < call.leftMs() ? pauseMs : 0)
    throw failed(isOver ? 'retention_exceeded' : 'outcome_unknown')
  }

  try {
    for (;;) {
      const boundMs = Math.min(call.leftMs(), repeatableForMs())
      if (boundMs <= 0) return giveUp()
      attempts += 1
      sent.open += 1
      sent.since ??= since
      const timeoutMs = Math.min(attemptTimeoutMs, boundMs)
      const made = await attempt(options.fetch, request, call, timeoutMs)
      const { verdict } = made
      let askedMs: number | undefined
      if ('response' in made) {
        seen = { response: made.response }
        learn(announced, path, made.response)
        askedMs = retryAfterMs(made.response.headers, Date.now())
        if (verdict === 'key_reused' || verdict === 'key_expired') {
          await settle()
          throw failed(verdict)
        }
        if (verdict === 'final') {
          await settle()
          return answer(made.response)
        }
        if (verdict === 'no effect' || verdict === 'refused') sent.open -= 1
        if (verdict === 'refused' && sent.open === 0) {
          if (!ASKING_WHO_IT_IS.includes(made.response.status)) await settle()
          return answer(made.response)
        }
      } else {
        seen = { ...seen, cause: made.cause }
      }
      if (verdict === 'refused' || verdict === 'dead end') throw failed('outcome_unknown')
      if (verdict !== 'under way') counted += 1
      const isUnderWay = verdict === 'under way'
      const pauseMs = pauseMsOf({ ...options, attempts, isUnderWay, askedMs })
      if (counted >= options.maxAttempts || pauseMs >= Math.min(call.leftMs(), repeatableForMs())) {
        return giveUp(pauseMs)
      }
      await pause(pauseMs, call)
    }
  } finally {
    // As if it had never been sent.
    if (sent.open === 0) sent.since = undefined
  }
}
