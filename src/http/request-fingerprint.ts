import { hash } from 'node:crypto'

import { isOncelyError } from '../errors.ts'
import { fingerprint, type Fingerprint } from '../fingerprint/fingerprint.ts'
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

/** As it was sent, or what a parser of the host's has made of it. */
export type Content = { readonly bytes: Uint8Array } | { readonly parsed: unknown }

/** Raised when the rule below changes: the same request would otherwise be a conflict. */
const VERSION = 1

/** @throws Refusal `content_malformed` or `content_ambiguous`. */
export function fingerprintOfRequest(operation: string, parts: RequestParts): Fingerprint {
  const { method, path, contentType } = parts
  const mediaType = mediaTypeOf(contentType)
  try {
    const content = contentOf(parts.content, mediaType)
    const query = valuesByName(parts.query)
    return fingerprint({ method, operation, path, query, mediaType, content }, { version: VERSION })
  } catch (error) {
    if (!isOncelyError(error) || error.code !== 'not_json') throw error
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

function contentOf(content: Content, mediaType: string): unknown {
  if ('parsed' in content) return { json: content.parsed }
  const { bytes } = content
  if (isJson(mediaType) && bytes.length > 0) return { json: readJson(bytes) }
  return { sha256: hash('sha256', bytes) }
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
