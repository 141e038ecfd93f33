import { type Insertable, type Kysely, sql } from 'kysely'

import type { Tables } from '../business.ts'
import type { Intent } from '../intent.ts'
import type { KeyRow, KeyTables } from '../key-tables.ts'

export type KeyTable = keyof KeyTables

/** How a call of those with a table of their own ends that finds its key there. */
export function outcomeOf(
  row: Pick<KeyRow, 'fingerprint' | 'replay_until' | 'response'> | undefined,
  { print }: Intent,
): string {
  if (!row?.response) return 'in_progress'
  if (row.fingerprint.toString('hex') !== print.digest) return 'conflict'
  if (row.replay_until.getTime() <= Date.now()) return 'expired'
  // As a caller would have it.
  JSON.parse(row.response.toString())
  return 'replayed'
}

/** A row that takes the key. */
export function keyRow({ scope, key, print }: Intent, attempt: string): Insertable<KeyRow> {
  return {
    ...scope,
    key,
    attempt,
    state: 'claimed',
    fingerprint_algorithm: print.algorithm,
    fingerprint_version: print.version,
    fingerprint: Buffer.from(print.digest, 'hex'),
    replay_until: new Date(Date.now() + 86_400_000),
  }
}

export function insertKey(db: Kysely<Tables>, table: KeyTable, row: Insertable<KeyRow>) {
  return db
    .insertInto(table)
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'actor', 'operation', 'key']).doNothing())
}

export function selectKey(db: Kysely<Tables>, table: KeyTable, { scope, key }: Intent) {
  return db
    .selectFrom(table)
    .select(['attempt', 'fingerprint', 'response', 'replay_until'])
    .where((eb) => eb.and({ ...scope, key }))
}

export async function storeResponse(
  db: Kysely<Tables>,
  table: KeyTable,
  { scope, key }: Intent,
  attempt: string,
  response: unknown,
): Promise<void> {
  await db
    .updateTable(table)
    .set({
      state: 'completed',
      claimed: null,
      response: Buffer.from(JSON.stringify(response)),
      completed_at: sql<Date>`clock_timestamp()`,
    })
    .where((eb) => eb.and({ ...scope, key, attempt }))
    .execute()
}
