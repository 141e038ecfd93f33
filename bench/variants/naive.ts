import { randomUUID } from 'node:crypto'

import { type Kysely, sql } from 'kysely'

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
 * What a careful person writes on Kysely: everything in one transaction, each statement a turn.
 * Nothing keeps it from committing a claim without an outcome, so it does less than ours.
 */
export function naive(db: Kysely<Tables>, table: KeyTable): Variant {
  return (intent) =>
    db.transaction().execute(async (tx) => {
      const { tenant } = intent.scope
      const attempt = randomUUID()
      await sql`set local lock_timeout = '250ms'`.execute(tx)
      await insertKey(tx, table, keyRow(intent, attempt)).execute()
      const row = await selectKey(tx, table, intent).executeTakeFirst()
      if (row?.attempt !== attempt) return outcomeOf(row, intent)
      // For a refusal, which is stored after the writes have been undone.
      await sql`savepoint business`.execute(tx)
      const order = await placeOrder(tx, tenant)
      await insertEvent(tx, order, tenant)
      await storeResponse(tx, table, intent, attempt, order)
      return 'executed'
    })
}
