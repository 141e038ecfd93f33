import { invalid } from '../checks.ts'

/** As of the header: draft-ietf-httpapi-idempotency-key-header-07, section 2. */
export const KEY_HEADER = 'idempotency-key'

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

/** The key of a header that a caller has written, quoted (RFC 9651, section 3.3.3) or not. */
export function keyOf(header: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"/.exec(header) ?? []
  return quoted?.replace(/\\(["\\])/g, '$1') ?? header
}

export function headerOf(key: string, format: 'quoted' | 'bare'): string {
  return format === 'bare' ? key : `"${key.replace(/["\\]/g, '\\$&')}"`
}
