import type { Kysely } from 'kysely'

import { createIdempotency, type Idempotency } from '../../src/index.ts'
import { eventOf, placeOrder, type Tables } from '../business.ts'
import type { Variant } from '../intent.ts'

const ways = {
  claim: { schema: 'idem' },
  readFirst: { schema: 'idem', readFirst: true },
  share: { schema: 'idem', replayLock: 'share' },
} as const

export type Way = keyof typeof ways

export function oncely(db: Kysely<Tables>, way: Way = 'claim'): Variant {
  return variantOf(createIdempotency(db, ways[way]))
}

function variantOf(idempotency: Idempotency<Tables>): Variant {
  return async ({ scope, key, print }) => {
    const result = await idempotency.withIdempotency(scope, key, print, async (tx, { emit }) => {
      const order = await placeOrder(tx, scope.tenant)
      emit(eventOf(order))
      return order
    })
    return result.kind
  }
}

/** Whether this version has the option. */
export function hasWay(db: Kysely<Tables>, way: Way): boolean {
  try {
    createIdempotency(db, ways[way])
    return true
  } catch {
    return false
  }
}
