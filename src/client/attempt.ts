import type { Fetch } from './options.ts'
import { type Verdict, verdictOn } from './verdict.ts'

/** What one attempt has come to. */
export type Attempt =
  | { readonly verdict: Verdict; readonly response: Response }
  | { readonly verdict: 'unknown'; readonly cause: unknown }

/**
 * Sends a request once, and reads the answer to its end: one that breaks off is none.
 *
 * @param signal - of the caller. @throws its reason when it aborts.
 */
export async function attempt(
  fetch: Fetch,
  target: string | URL,
  init: RequestInit,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Attempt> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    late.abort(new DOMException('the attempt took too long', 'TimeoutError'))
  }, timeoutMs)
  try {
    const response = await fetch(target, {
      ...init,
      signal: AbortSignal.any([signal, late.signal]),
    })
    const content = await response.clone().arrayBuffer()
    return { verdict: verdictOn(response, content), response }
  } catch (cause) {
    signal.throwIfAborted()
    return { verdict: 'unknown', cause }
  } finally {
    clearTimeout(timer)
  }
}
