import { randomUUID } from 'node:crypto'

import type { Kysely } from 'kysely'

import { insertEvent, placeOrder, type Tables } from '../business.ts'
import type { Variant } from '../intent.ts'
import {
  insertKey,
  type KeyTable,
  keyRow,
  outcomeOf,
  selectKey,
  storeResponse,
} from './kept-key.ts'

/**
 * The one that many services have: a row in progress is committed, then the business, then that it is
 * done. A crash between two of them leaves a key that somebody has to clean up.
 */
export function threeCommits(db: Kysely<Tables>, table: KeyTable): Variant {
  return async (intent) => {
    const { tenant } = intent.scope
    const attempt = randomUUID()
    const taken = await insertKey(db, table, keyRow(intent, attempt))
      .returning('attempt')
      .executeTakeFirst()
    if (!taken) return outcomeOf(await selectKey(db, table, intent).executeTakeFirst(), intent)
    const order = await db.transaction().execute(async (tx) => {
      const placed = await placeOrder(tx, tenant)
      await insertEvent(tx, placed, tenant)
      return placed
    })
    await storeResponse(db, table, intent, attempt, order)
    return 'executed'
  }
}
