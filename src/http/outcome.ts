import type { Denied, Duplicate, Lookup, QuotaExceeded, Result } from '../result.ts'
import { answerOf, type HttpAnswer, isAnswer } from './answer.ts'
import { type Announced, REPLAYED } from './announce.ts'
import { Refusal } from './refusal.ts'

type Ended = Result<unknown> | Lookup<unknown> | Denied | Duplicate<unknown> | QuotaExceeded

/**
 * What a caller is answered of whom the handler has not run, or has run before.
 *
 * @throws Refusal for everything that is not an answer of a handler.
 */
export async function answerTo(
  result: Ended,
  announced: Announced,
  limit: number,
): Promise<HttpAnswer> {
  switch (result.kind) {
    case 'executed':
    case 'replayed':
      return replayed(result.value, announced, limit)
    case 'rejected':
      return replayed(result.refusal, announced, limit)
    case 'duplicate':
      if (result.disposition === 'replay') return replayed(result.value, announced, limit)
      throw new Refusal('duplicate', { detail: detailOf(result.disposition) })
    case 'conflict':
      throw new Refusal('key_reused', { detail: 'It was sent with another request before.' })
    case 'expired':
      throw new Refusal('key_expired', {
        detail: 'The request took effect, and is not made again.',
        resource: result.resource,
      })
    case 'in_progress':
      throw new Refusal('request_outstanding', { retryAfterMs: result.retryAfterMs })
    case 'unknown':
      throw new Refusal('outcome_unknown', {
        detail: 'Send the same request with the same key again.',
        retryAfterMs: result.retryAfterMs,
      })
    case 'absent':
      throw new Refusal('key_absent')
    case 'denied':
      throw new Refusal('access_denied')
    case 'quota_exceeded':
      throw new Refusal('quota_exceeded', { retryAfterMs: result.retryAfterMs })
  }
}

function detailOf(disposition: 'conflict' | 'manual'): string {
  return disposition === 'conflict'
    ? 'It is there already, and was made by another request.'
    : 'It is there already, and somebody has to look at it.'
}

/** What a route makes anew, by `replay` or by `businessIdentity`, is a Response, or what becomes JSON. */
async function replayed(made: unknown, announced: Announced, limit: number): Promise<HttpAnswer> {
  const answer = isAnswer(made) ? made : await answerOf(asResponse(made), limit)
  return { ...answer, headers: [...answer.headers, ...announced, REPLAYED] }
}

/** By what it has, as it may be of another copy of the class. */
function asResponse(made: unknown): Response {
  const { headers, arrayBuffer } = Object(made) as Partial<Response>
  if (headers && typeof arrayBuffer === 'function') return made as Response
  return made === undefined ? new Response(null, { status: 204 }) : Response.json(made)
}
