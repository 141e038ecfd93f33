// Runs in the browser: what the page of a shop does with `oncely/client`.
import {
  createIdempotentFetch,
  type IdempotentFetch,
  type IdempotentFetchError,
  type IdempotentFetchOptions,
  type KeptIntent,
} from 'oncely/client'

import { keepContent, keptContents, localJournal } from './local-journal.ts'
import { said } from './said.ts'

/** An order, and how it is sent. */
export interface Ordering {
  readonly url: string
  readonly sku: string
  readonly amountMinor?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly kept?: KeptIntent | undefined
  readonly options?: Omit<IdempotentFetchOptions, 'fetch' | 'journal'>
}

export const scenarios = {
  /** Whether this is a page that browsers trust. */
  isTrusted: () => Promise.resolve('randomUUID' in crypto),

  place: (ordering: Ordering) =>
    said(clientOf(ordering).intent(ordering.kept).send(ordering.url, contentOf(ordering))),

  /** By a Request, which is made once. */
  placeRequest: (ordering: Ordering) =>
    said(clientOf(ordering)(new Request(ordering.url, contentOf(ordering)))),

  /** To a path of its own server, and says where that was. */
  placeBeside: async (path: string, redirect: 'follow' | 'manual') => {
    const urls: string[] = []
    const send = createIdempotentFetch({
      ...quick,
      fetch(url, init) {
        urls.push(url)
        return fetch(url, init)
      },
    })
    const told = await send(path, { method: 'POST', redirect }).then(
      ({ response: { status, url }, attempts }) => ({ status, url, attempts }),
      (error: unknown) => {
        const { code, attempts } = error as IdempotentFetchError
        return { code, attempts }
      },
    )
    return { ...told, urls }
  },

  doubleClick: (ordering: Ordering) => {
    const intent = clientOf(ordering).intent()
    const click = () => said(intent.send(ordering.url, contentOf(ordering)))
    return Promise.all([click(), click()] as const)
  },

  /** Sends it, and keeps it until there is an answer. */
  placeKept: (ordering: Ordering) => {
    const send = createIdempotentFetch({ ...quick, journal: localJournal })
    const intent = send.intent()
    const content = contentOf(ordering)
    keepContent(intent.key, content)
    return said(intent.send(ordering.url, content))
  },

  /** Goes on with whatever was kept. */
  resume: () => {
    const send = createIdempotentFetch({ ...quick, journal: localJournal })
    const all = localJournal
      .entries()
      .map((entry) => said(send.intent(entry).send(entry.url, keptContents(entry.key))))
    return Promise.all(all)
  },

  countKept: () => Promise.resolve(localJournal.entries().length),

  /** Says what it failed with when `abort` has been called. */
  placeUntilAborted: async (ordering: Ordering) => {
    aborting = new AbortController()
    const { signal } = aborting
    const init = { ...contentOf(ordering), signal }
    const thrown: unknown = await clientOf(ordering)
      .intent(ordering.kept)
      .send(ordering.url, init)
      .catch((error: unknown) => error)
    return { isReason: thrown === signal.reason, name: (thrown as Error).name }
  },

  abort: () => {
    aborting?.abort()
    return Promise.resolve()
  },
}

let aborting: AbortController | undefined

/** Nothing is paused for. */
const quick = { initialDelayMs: 0, maxDelayMs: 0 }

const clients = new Map<string, IdempotentFetch>()

/** The same for the same options, as long as the page is there. */
function clientOf({ options }: Ordering): IdempotentFetch {
  const name = JSON.stringify(options ?? {})
  const client = clients.get(name) ?? createIdempotentFetch({ ...quick, ...options })
  clients.set(name, client)
  return client
}

function contentOf({ sku, amountMinor = 100, headers }: Ordering) {
  return {
    method: 'POST',
    headers: { authorization: 'Bearer alice', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ sku, amountMinor }),
  }
}
