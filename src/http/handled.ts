import { isOncelyError, OncelyError } from '../errors.ts'
import type { HttpAnswer } from './answer.ts'
import type { Handled } from './exchange.ts'
import { Refusal } from './refusal.ts'

/** Thrown to roll back behind an answer that is not stored. */
export class NotStored extends Error {
  readonly answer: HttpAnswer

  /** @param cause - what a statement has failed with, by which a duplicate is known. */
  constructor(answer: HttpAnswer, cause: unknown) {
    super('not stored', { cause })
    this.answer = answer
  }
}

/**
 * What becomes of an answer: it is stored, or stored as a refusal with everything undone, or nothing of it is.
 *
 * @param declared - what the handler has declared to be final.
 * @throws OncelyError `invalid_response`.
 */
export function endOf(
  { status, thrown }: Handled,
  declared: { readonly answer: unknown } | undefined,
  finalStatuses: readonly number[],
): 'stored' | 'refused' | 'rolled back' {
  const hasFailed = thrown !== undefined && thrown.error !== declared?.answer
  // What it has declared is not what somebody has made of another error.
  const isFinal = declared !== undefined && !hasFailed
  if (isFinal && (status < 400 || status >= 500)) {
    throw unstorable(`context.reject was called, and the status of the answer is ${status}`)
  }
  // It is no answer of the business.
  if (status >= 500) return 'rolled back'
  if (!(status >= 200)) throw unstorable(`a status of ${status} is no answer`)
  if (status >= 400) return isFinal || finalStatuses.includes(status) ? 'refused' : 'rolled back'
  return hasFailed ? 'rolled back' : 'stored'
}

function unstorable(message: string): OncelyError {
  return new OncelyError('invalid_response', message)
}

/** An error of ours that a client can do something about: nothing was committed. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isOncelyError(error)) return undefined
  switch (error.code) {
    case 'response_too_large':
      return new Refusal('response_too_large')
    case 'deadline_exceeded':
    case 'transaction_not_started':
    case 'commit_unanswered':
      return new Refusal('unavailable', { retryAfterMs: 1_000 })
    default:
      return undefined
  }
}
