import { raced, within } from './bounds.ts'
import type { Call } from './call.ts'
import type { Fetch, ResponseLike } from './fetch.ts'
import type { Repeatable } from './repeatable.ts'
import { type Verdict, verdictOn } from './verdict.ts'
import { wholeResponse, whyUnusable } from './whole-response.ts'

/** What one attempt has come to. */
export type Attempt =
  | { readonly verdict: Verdict; readonly response: Response }
  | { readonly verdict: 'unknown' | 'dead end'; readonly cause: unknown }

/**
 * Sends a request once, and reads the answer to its end: one that breaks off is none.
 *
 * @throws the reason of the caller's signal, at once, when that aborts.
 */
export async function attempt(
  fetch: Fetch,
  request: Repeatable,
  call: Call,
  timeoutMs: number,
): Promise<Attempt> {
  const bound = within(call.signal, timeoutMs, 'the attempt')
  const { signal } = bound
  const { url, said, method, headers, content: body } = request
  const init = { ...said, method, headers: Object.fromEntries(headers), body, signal }
  try {
    const given = await raced(signal, () => fetch(url, init))
    const why = whyUnusable(given)
    if (why) return { verdict: 'dead end', cause: new TypeError(why) }
    const content = await raced(signal, () => given.arrayBuffer())
    return judged(given, content)
  } catch (cause) {
    call.throwIfAborted()
    return { verdict: 'unknown', cause }
  } finally {
    bound.release()
  }
}

/** The request was sent: what cannot be made a response of must not lead to another one. */
function judged(given: ResponseLike, content: ArrayBuffer): Attempt {
  try {
    const response = wholeResponse(given, content)
    return { verdict: verdictOn(response, content), response }
  } catch (cause) {
    return { verdict: 'dead end', cause }
  }
}
