import { IdempotentFetchError, type Intent, type KeptIntent } from 'oncely/client'

export interface Order {
  sku: string
  amountMinor: number
}

/** What to tell the person who has ordered. */
export type Told =
  /** `again`: an earlier attempt did it. For the person it is the same. */
  | { readonly kind: 'done'; readonly order: unknown; readonly again: boolean }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: unknown }
  | { readonly kind: 'key_reused' | 'key_expired'; readonly problem: unknown }
  | { readonly kind: 'outcome_unknown' | 'retention_exceeded'; readonly kept: KeptIntent }

/** Sends an order; the same intent again is the same order. */
export async function placeOrder(intent: Intent, url: string, order: Order): Promise<Told> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(order)
  try {
    const { response, replayed } = await intent.send(url, { method: 'POST', headers, body })
    const content: unknown = await response.json().catch(() => undefined)
    if (response.ok) return { kind: 'done', order: content, again: replayed }
    return { kind: 'refused', status: response.status, reason: content }
  } catch (error) {
    if (!(error instanceof IdempotentFetchError)) throw error
    const { code, key, since, retentionMs, response } = error
    if (code === 'key_reused' || code === 'key_expired') {
      return { kind: code, problem: await response?.json() }
    }
    return { kind: code, kept: { key, since, retentionMs } }
  }
}
