import { createIdempotentFetch } from 'oncely/client'

/** Where a program has its token from. */
export interface Tokens {
  current(): Promise<string>
  /** Resolves when `current` has another one. */
  renew(): Promise<void>
}

/** A client whose every attempt has the token of its time, and a new one where that is refused. */
export function sendWithToken(tokens: Tokens, options: { maxAttempts?: number } = {}) {
  return createIdempotentFetch({
    ...options,
    async fetch(url, init) {
      const sendOnce = async () => {
        const authorization = `Bearer ${await tokens.current()}`
        return fetch(url, { ...init, headers: { ...init.headers, authorization } })
      }
      const response = await sendOnce()
      if (response.status !== 401) return response
      await response.body?.cancel()
      await tokens.renew()
      return sendOnce()
    },
  })
}
