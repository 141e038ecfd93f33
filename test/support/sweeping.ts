import { sql } from 'kysely'

import type { TestDatabase } from './database.ts'
import { completedRow } from './record-rows.ts'

/** Writes records whose replay window ended that many seconds ago; before now is still to come. */
export async function insertDue(
  database: TestDatabase,
  keys: readonly string[],
  secondsAgo: (index: number) => number = () => 60,
): Promise<void> {
  const rows = keys.map((key, index) => ({
    ...completedRow(key),
    replay_until: sql<Date>`statement_timestamp() - ${secondsAgo(index)} * interval '1 second'`,
  }))
  await database.watcher.insertInto('records').values(rows).execute()
}

/** Writes tombstones that have been such for that many seconds. */
export async function insertTombstones(
  database: TestDatabase,
  keys: readonly string[],
  secondsAgo: (index: number) => number = () => 60,
): Promise<void> {
  const rows = keys.map((key, index) => ({
    ...completedRow(key),
    state: 'expired',
    response: null,
    expired_at: sql<Date>`statement_timestamp() - ${secondsAgo(index)} * interval '1 second'`,
  }))
  await database.watcher.insertInto('records').values(rows).execute()
}

/** The keys in that state, in their order. */
export async function keysIn(database: TestDatabase, state: string): Promise<string[]> {
  const records = database.watcher.selectFrom('records').select('key')
  return (await records.where('state', '=', state).orderBy('key').execute()).map(({ key }) => key)
}

/** `prefix 000`, `prefix 001` and so on. */
export function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix} ${String(index).padStart(3, '0')}`)
}
