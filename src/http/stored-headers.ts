/**
 * The headers that describe a response and are as true of it later. Not those of a connection or of a
 * moment (Date, Age, Retry-After), of a caller (Set-Cookie, WWW-Authenticate, Access-Control-*), of a
 * request (X-Request-Id, RateLimit), nor Content-Length, which follows from the content.
 */
const stored = new Set([
  'content-type',
  'content-language',
  'content-location',
  'content-disposition',
  'location',
  'etag',
  'last-modified',
  'link',
  'deprecation',
  'sunset',
])

/** What would be untrue or somebody else's, so that it cannot be named either. */
const never = new Set([
  'set-cookie',
  'set-cookie2',
  'authorization',
  'www-authenticate',
  'proxy-authenticate',
  'proxy-authorization',
  'authentication-info',
  'date',
  'content-length',
  'content-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** @param more - names in lower case that a route has stored beside. */
export function storedBy(more: readonly string[]): (name: string) => boolean {
  return (name) => !never.has(name) && (stored.has(name) || more.includes(name))
}

/** Whether a route may name it. */
export function isStorable(name: string): boolean {
  return !never.has(name)
}
