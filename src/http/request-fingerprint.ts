import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import { isOncelyError, OncelyError } from '../errors.ts'
import { fingerprint, type Fingerprint } from '../fingerprint/fingerprint.ts'
import type { Content } from './content.ts'
import { readJson } from './json-content.ts'
import { Refusal } from './refusal.ts'

/** What of a request decides about its result, unless its route chooses the fields. */
export interface RequestParts {
  readonly method: string
  /** As it was sent, with its parameters in place. */
  readonly path: string
  readonly query: string
  /** The whole Content-Type. */
  readonly contentType: string | undefined
  readonly content: Content
}

/** Raised when the rule below changes: the same request would otherwise be a conflict. */
const VERSION = 1

/**
 * @throws Refusal `content_malformed` or `content_ambiguous`.
 * @throws OncelyError `not_json` for what a middleware has put into the place of a parsed content.
 */
export function fingerprintOfRequest(operation: string, parts: RequestParts): Fingerprint {
  const { method, path, contentType } = parts
  const mediaType = mediaTypeOf(contentType)
  try {
    const content = decisiveOf(parts.content, contentType)
    const query = valuesByName(parts.query)
    return fingerprint({ method, operation, path, query, mediaType, content }, { version: VERSION })
  } catch (error) {
    if (!isOncelyError(error) || error.code !== 'not_json') throw error
    // No client can do something about a Date that a middleware of the host's has put there.
    if ('parsed' in parts.content && !isOfJson(parts.content.parsed)) {
      const { message, path } = error
      throw new OncelyError(
        'not_json',
        `${message}, in what was made of the content: give \`fingerprint\``,
        {
          cause: error,
          ...(path !== undefined && { path }),
        },
      )
    }
    throw new Refusal('content_ambiguous', { detail: error.message })
  }
}

/**
 * The order of names means nothing, and that of the values of one name does. As they were sent: what they
 * are decoded to is the same for some that are not.
 */
function valuesByName(query: string): Readonly<Record<string, readonly string[]>> {
  const byName = new Map<string, string[]>()
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const [name = '', ...value] = pair.split('=')
    const values = byName.get(name)
    if (values) values.push(value.join('='))
    else byName.set(name, [value.join('=')])
  }
  return Object.fromEntries(byName)
}

function decisiveOf(content: Content, contentType: string | undefined): unknown {
  if ('parsed' in content) return { json: content.parsed }
  const { bytes } = content
  const mediaType = mediaTypeOf(contentType)
  if (isJson(mediaType) && bytes.length > 0) return { json: readJson(bytes) }
  const boundary = boundaryOf(contentType)
  return { sha256: boundary ? sha256OfParts(bytes, boundary) : hash('sha256', bytes) }
}

/** The same form is sent with another boundary each time (RFC 2046, section 5.1.1). */
function boundaryOf(contentType = ''): string | undefined {
  const [, quoted, bare] =
    /^multipart\/[^;]+;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  return quoted ?? bare
}

function sha256OfParts(bytes: Uint8Array, boundary: string): readonly string[] {
  const parts = Buffer.from(bytes).toString('latin1').split(`--${boundary}`)
  return parts.map((part) => hash('sha256', Buffer.from(part, 'latin1')))
}

/** Whether it is what a parser makes of a text of JSON or of a form, with nothing put in its place. */
function isOfJson(parsed: unknown): boolean {
  try {
    return isDeepStrictEqual(parsed, JSON.parse(JSON.stringify(parsed)))
  } catch {
    return false
  }
}

function mediaTypeOf(contentType = ''): string {
  const [mediaType = ''] = contentType.split(';')
  return mediaType.trim().toLowerCase()
}

/** RFC 8259, and the suffix of RFC 6839. */
function isJson(mediaType: string): boolean {
  return /^application\/(?:[^;]+\+)?json$/.test(mediaType)
}

/** Whether what a parser makes of it is all there is: of multipart the files are somewhere else. */
export function isWhole(contentType: string | undefined): boolean {
  const mediaType = mediaTypeOf(contentType)
  return isJson(mediaType) || mediaType === 'application/x-www-form-urlencoded'
}
