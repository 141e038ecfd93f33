import { createIdempotentFetch, type IdempotentFetchOptions } from 'oncely/client'

/** `localStorage`, or what has these of its functions. */
export interface Store {
  readonly length: number
  key(index: number): string | null
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/** An order that has no final answer yet. */
interface Kept {
  readonly key: string
  /** When it was first sent, if it was. */
  readonly since?: number
  /** For how long the server knows the key, if it has said so. */
  readonly retentionMs?: number | undefined
  readonly order: object
}

/** Orders of one person, which are kept until they are answered. The journal has no content: we keep that. */
export function keptOrders(
  { store, url, user }: { store: Store; url: string; user: string },
  options: IdempotentFetchOptions = {},
) {
  const prefix = `order of ${user} `
  const read = (name: string) => JSON.parse(store.getItem(name) ?? '{}') as Kept
  const keep = (kept: Kept) => {
    store.setItem(prefix + kept.key, JSON.stringify(kept))
  }
  const send = createIdempotentFetch({
    ...options,
    journal: {
      begin: ({ key, since, retentionMs }) => {
        keep({ ...read(prefix + key), key, since, retentionMs })
      },
      end: ({ key }) => {
        store.removeItem(prefix + key)
      },
    },
  })
  const sendKept = (kept: Kept) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(kept.order)
    return send.intent(kept).send(url, { method: 'POST', headers, body })
  }

  return {
    place(order: object) {
      const kept = { key: send.intent().key, order }
      keep(kept)
      return sendKept(kept)
    },
    /** Behind a reload: what was kept, each to be sent by `sendKept`. */
    open() {
      const names = Array.from({ length: store.length }, (_, index) => String(store.key(index)))
      return names.filter((name) => name.startsWith(prefix)).map(read)
    },
    sendKept,
  }
}
