import { createIdempotentFetch } from 'oncely/client'

import { type Order, placeOrder } from './place-order.ts'

const send = createIdempotentFetch() // once in the program

/** What a form asks for once, however often its button is clicked. */
export function orderForm(url: string) {
  const intent = send.intent() // with the form, and not with the click
  return (order: Order) => placeOrder(intent, url, order)
}
