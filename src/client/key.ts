import { invalid } from '../checks.ts'
import { madeOf } from './misuse.ts'

/** As of the header: draft-ietf-httpapi-idempotency-key-header-07, section 2. */
const KEY_HEADER = 'idempotency-key'

/** A UUID of version 4 (RFC 9562), also on a page that was not sent by TLS, which has no `randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (Number(bytes[6]) & 0x0f) | 0x40
  bytes[8] = (Number(bytes[8]) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** @throws OncelyError `invalid_options`. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key === 'string' && /^[!-~](?:[ -~]{0,253}[!-~])?$/.test(key)) return
  throw invalid('key must have 1 to 255 printable ASCII characters, and no space at its ends')
}

/**
 * The key that a caller has written in headers, in the first of them that have one.
 *
 * @throws OncelyError `invalid_options` where that is neither one quoted string nor one bare text.
 */
export function writtenKey(
  ...all: readonly (RequestInit['headers'] | undefined)[]
): string | undefined {
  for (const headers of all) {
    const written = madeOf(() => new Headers(headers)).get(KEY_HEADER)
    if (written !== null) return keyOf(written)
  }
  return undefined
}

/** Quoted (RFC 9651, section 3.3.3) or not, and nothing behind it: two lines come joined. */
function keyOf(header: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header) ?? []
  const [bare] = /^[^\s",]+$/.exec(header) ?? []
  const key = quoted?.replace(/\\(["\\])/g, '$1') ?? bare
  // What is not there becomes these texts in headers, the same for each intent.
  if (key === undefined || key === 'undefined' || key === 'null') {
    throw invalid(`the headers must have one key, as "key" or key, and have ${header}`)
  }
  checkKey(key)
  return key
}

/** As the server takes it, whatever the caller has written. */
export function writeKey(headers: Headers, key: string, format: 'quoted' | 'bare'): void {
  headers.set(KEY_HEADER, format === 'bare' ? key : `"${key.replace(/["\\]/g, '\\$&')}"`)
}
