import { OncelyError } from '../errors.ts'
import { Refusal } from './refusal.ts'

/** The content of a request as it was sent, or what a parser of the host's has made of it. */
export type Content = { readonly bytes: Uint8Array } | { readonly parsed: unknown }

/** Of a content that somebody in front has read, and kept in no way that tells one from another. */
export function consumed(): OncelyError {
  return new OncelyError(
    'content_consumed',
    'the content was read before: put the middleware in front of what reads it, or give `fingerprint`',
  )
}

/** Of a content that the handler reads by itself, behind the framework: it can be read only once. */
export function unread(): OncelyError {
  return new OncelyError(
    'content_unread',
    'the handler reads the content by itself, as a form with files or a stream: give `fingerprint`; on Fastify the hook has to be a preHandler',
  )
}

/** Whether a text has the octets that were sent: what is no UTF-8 is all the same in it, U+FFFD. */
export function isKeptAsText(bytes: Uint8Array): boolean {
  return !Buffer.from(bytes).includes('\uFFFD')
}

/**
 * What can be said before anything is read.
 *
 * @throws Refusal `content_too_large` or `content_encoded`.
 */
export function checkHead(
  length: string | null | undefined,
  encoding: string | null | undefined,
  limit: number,
): void {
  if (Number(length ?? 0) > limit) throw new Refusal('content_too_large')
  if (encoding && encoding.toLowerCase() !== 'identity') throw new Refusal('content_encoded')
}
