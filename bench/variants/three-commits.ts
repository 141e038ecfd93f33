import { randomUUID } from 'node:crypto'

import type { Kysely } from 'kysely'

import { insertEvent, placeOrder, type Tables } from '../business.ts'
import type { Variant } from '../intent.ts'
import { insertKey, keyRow, outcomeOf, selectKey, storeResponse } from './kept-key.ts'

/**
 * The one that many services have: a processing row is committed, then the business, then that it is
 * done. A crash between two of them leaves a key that somebody has to clean up.
 */
export function threeCommits(db: Kysely<Tables>): Variant {
  return async (intent) => {
    const { tenant } = intent.scope
    const attempt = randomUUID()
    const taken = await insertKey(db, keyRow(intent, attempt))
      .returning('attempt')
      .executeTakeFirst()
    if (!taken) return outcomeOf(await selectKey(db, intent).executeTakeFirst(), intent)
    const order = await db.transaction().execute(async (tx) => {
      const placed = await placeOrder(tx, tenant)
      await insertEvent(tx, placed, tenant)
      return placed
    })
    await storeResponse(db, intent, attempt, order)
    return 'executed'
  }
}
