import type { Kysely } from 'kysely'

import { createIdempotency } from '../../src/index.ts'
import { eventOf, placeOrder, type Tables } from '../business.ts'
import type { Variant } from '../intent.ts'

const ways = {
  claim: { schema: 'idem' },
  readFirst: { schema: 'idem', readFirst: true },
  share: { schema: 'idem', replayLock: 'share' },
} as const

type Way = keyof typeof ways

export function oncely(db: Kysely<Tables>, way: Way = 'claim'): Variant {
  const idempotency = createIdempotency(db, ways[way])
  return async ({ scope, key, print }) => {
    const result = await idempotency.withIdempotency(scope, key, print, async (tx, { emit }) => {
      const order = await placeOrder(tx, scope.tenant)
      emit(eventOf(order))
      return order
    })
    return result.kind
  }
}
