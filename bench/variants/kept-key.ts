import type { Kysely } from 'kysely'

import type { Tables } from '../business.ts'
import type { Intent } from '../intent.ts'

/** How a call of those with a table of their own ends that finds its key there. */
export function outcomeOf(
  row: Pick<Tables['bench_keys'], 'fingerprint' | 'replay_until' | 'response'> | undefined,
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
export function keyRow({ scope, key, print }: Intent, attempt: string): Tables['bench_keys'] {
  return {
    ...scope,
    key,
    attempt,
    state: 'processing',
    fingerprint: Buffer.from(print.digest, 'hex'),
    response: null,
    replay_until: new Date(Date.now() + 86_400_000),
  }
}

export function insertKey(db: Kysely<Tables>, row: Tables['bench_keys']) {
  return db
    .insertInto('bench_keys')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'actor', 'operation', 'key']).doNothing())
}

export function selectKey(db: Kysely<Tables>, { scope, key }: Intent) {
  return db
    .selectFrom('bench_keys')
    .select(['attempt', 'fingerprint', 'response', 'replay_until'])
    .where((eb) => eb.and({ ...scope, key }))
}

export async function storeResponse(
  db: Kysely<Tables>,
  { scope, key }: Intent,
  attempt: string,
  response: unknown,
): Promise<void> {
  await db
    .updateTable('bench_keys')
    .set({ state: 'done', response: Buffer.from(JSON.stringify(response)) })
    .where((eb) => eb.and({ ...scope, key, attempt }))
    .execute()
}
