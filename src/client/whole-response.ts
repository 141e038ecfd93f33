import type { ResponseLike } from './fetch.ts'

/** What is read as having no content, whatever comes behind it. */
const WITHOUT_CONTENT = [204, 205, 304]

/** Why nothing can be made of what a `fetch` gave; undefined of an answer. */
export function whyUnusable(given: unknown): string | undefined {
  const { type, status, headers, arrayBuffer } = Object(given) as Partial<ResponseLike>
  if (['opaque', 'opaqueredirect', 'error'].includes(String(type)) || status === 0) {
    return 'the answer cannot be seen, such as one of no-cors, or a redirect by hand in a browser'
  }
  if (
    Number.isInteger(status) &&
    typeof arrayBuffer === 'function' &&
    typeof headers?.get === 'function' &&
    Symbol.iterator in headers
  ) {
    return undefined
  }
  return 'fetch gave no response: it needs a status, headers that can be iterated, and arrayBuffer()'
}

/** The same answer, whose content has come. `clone()` would do, but for implementations that it stops. */
export function wholeResponse(given: ResponseLike, content: ArrayBuffer): Response {
  const { status, statusText = '', url = '', redirected = false, type = 'default' } = given
  const isKnown = status >= 200 && status < 600
  // Octets of another realm too.
  const octets = ArrayBuffer.isView(content) ? content : new Uint8Array(content)
  const whole = new Response(WITHOUT_CONTENT.includes(status) ? null : octets, {
    status: isKnown ? status : 500,
    statusText,
    headers: [...given.headers],
  })
  const said = { url, redirected, type, ...(!isKnown && { status }) }
  for (const [name, value] of Object.entries(said)) {
    Object.defineProperty(whole, name, { value, configurable: true })
  }
  return whole
}
