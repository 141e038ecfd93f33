import { createIdempotentFetch, IdempotentFetchError } from 'oncely/client'

const send = createIdempotentFetch()

/** What a form asks for, once, however often its button is clicked. */
export function orderForm(url: string, order: { sku: string; amountMinor: number }) {
  const intent = send.intent()
  return async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(order)
    try {
      const { response, replayed } = await intent.send(url, { method: 'POST', headers, body })
      return { status: response.status, replayed }
    } catch (error) {
      if (error instanceof IdempotentFetchError && error.code === 'outcome_unknown') {
        return { unknown: error.key } // to be sent again with this key, and no other
      }
      throw error
    }
  }
}
