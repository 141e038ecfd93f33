import { isOncelyError, OncelyError } from '../errors.ts'
import type { HttpAnswer } from './answer.ts'
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
 * Whether an answer has the last word: not so a 5xx, which is no answer of the business.
 *
 * @throws OncelyError `invalid_response`.
 */
export function isEnd(answer: HttpAnswer, isFinal: boolean): boolean {
  const { status } = answer
  if (status >= 500) return false
  if (!(status >= 200)) throw unstorable(`a status of ${status} is no answer`)
  if (isFinal && status < 400) {
    throw unstorable(`context.reject was called, and the status of the answer is ${status}`)
  }
  return true
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
