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
  'content-range',
  'location',
  'etag',
  'last-modified',
  'link',
  'vary',
  'deprecation',
  'sunset',
])

/** Of a connection and not of an answer (RFC 9110, section 7.6.1), or said anew by whoever sends it. */
const ofConnection = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What would be untrue or somebody else's, so that it cannot be named either. */
const never = new Set([
  ...ofConnection,
  'set-cookie',
  'set-cookie2',
  'authorization',
  'www-authenticate',
  'proxy-authenticate',
  'proxy-authorization',
  'authentication-info',
  'date',
  'content-encoding',
])

/** @param more - names in lower case that a route has stored beside. */
export function storedBy(more: readonly string[]): (name: string) => boolean {
  return (name) => !never.has(name) && (stored.has(name) || more.includes(name))
}

/** Whether a route may name it. */
export function isStorable(name: string): boolean {
  return !never.has(name)
}

/**
 * Leaves out what is of the connection that an answer has come by, such as of another server's.
 *
 * @param headers - by names in lower case.
 */
export function endToEnd(headers: readonly (readonly [string, string])[]) {
  const named = headers.flatMap(([name, value]) => (name === 'connection' ? value.split(',') : []))
  const left = new Set(named.map((name) => name.trim().toLowerCase()))
  return headers.filter(([name]) => !ofConnection.has(name) && !left.has(name))
}
