import type { Kysely } from 'kysely'

import { insertEvent, placeOrder, type Tables } from '../business.ts'
import type { Variant } from '../intent.ts'

/** No idempotency at all: one transaction with the business writes and the event, a turn each. */
export function bare(db: Kysely<Tables>): Variant {
  return ({ scope }) =>
    db.transaction().execute(async (tx) => {
      await insertEvent(tx, await placeOrder(tx, scope.tenant), scope.tenant)
      return 'executed'
    })
}

/** The same without the event. */
export function bareWithoutEvent(db: Kysely<Tables>): Variant {
  return ({ scope }) =>
    db.transaction().execute(async (tx) => {
      await placeOrder(tx, scope.tenant)
      return 'executed'
    })
}
