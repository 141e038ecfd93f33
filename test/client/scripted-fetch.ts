import type { Fetch, FetchInit, ResponseLike } from 'oncely/client'

/** An answer, or what makes one. */
export type Answer = unknown

/** A `fetch` that has no server, and gives one answer after the other, and the last of them from then on. */
export function scriptedFetch(...answers: readonly (() => Answer)[]) {
  const calls: [url: string, init: FetchInit][] = []
  const fetch: Fetch = async (url, init) => {
    calls.push([url, init])
    const answer = answers[Math.min(calls.length, answers.length) - 1]
    return (await answer?.()) as ResponseLike
  }
  return { fetch, calls }
}

/** An answer as a Response, made when it is asked for. */
export const says =
  (status: number, headers: Record<string, string> = {}, content: string | null = null) =>
  () =>
    new Response(content, { status, headers })

/** A problem (RFC 9457), as our endpoints answer. */
export const saysProblem = (status: number, code: string, type = 'application/problem+json') =>
  says(status, { 'content-type': type }, JSON.stringify({ code }))

/** A connection that breaks. */
export const breaks = () => {
  throw new TypeError('fetch failed')
}

/** A journal that notes what it is told, as `begin key` and `end key`. */
export function notedJournal() {
  const notes: string[] = []
  return {
    notes,
    begin: ({ key }: { key: string }) => notes.push(`begin ${key}`),
    end: ({ key }: { key: string }) => notes.push(`end ${key}`),
  }
}

export const quick = { initialDelayMs: 0, maxDelayMs: 0 }
export const post = { method: 'POST', body: 'content' }
export const url = 'http://shop.test/orders'
