import { randomUUID } from 'node:crypto'

import { type Kysely, sql } from 'kysely'

import { type Figure, row } from './figure.ts'
import {
  decisive,
  freshGround,
  type Ground,
  repeat,
  responseAround,
  scope,
  sizeOf,
  withCalls,
  writeNote,
} from './ground.ts'

/** Bytes that each record takes, and how often the response was stored without touching an index. */
export async function tableFigures(
  admin: Kysely<unknown>,
  url: string,
  count: number,
): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const response of [100, 300, 2_000]) {
    for (const writers of response === 300 ? [1, 8] : [8]) {
      for (const fillfactor of [100, 95, 90, 80, 70]) {
        const ground = await freshGround(admin, url, fillfactor)
        await withCalls(ground, writers, ({ idempotency }) =>
          repeat(count, writers, () =>
            idempotency.withIdempotency(scope, randomUUID(), decisive, async (tx) => {
              await writeNote(tx)
              return responseAround(response)
            }),
          ),
        )
        const name = `response ${response} B, ${writers} writer${writers > 1 ? 's' : ''}, fillfactor ${fillfactor}`
        const { heap, beside, indexes, total } = await sizeOf(ground)
        const each = { heap, beside, indexes, total }
        const section = `bytes a record, ${count} first executions`
        const bytes = Object.entries(each).map(([part, size]) => [part, size / count] as const)
        figures.push(...row(section, name, 'bytes', Object.fromEntries(bytes)))
        figures.push(...row(section, name, '%', { HOT: await hotShare(ground, count) }))
      }
    }
  }
  return figures
}

/** Sessions tell their counts when they end, which nobody waits for. */
async function hotShare({ admin, schema }: Ground, updates: number): Promise<number> {
  for (;;) {
    const { rows } = await sql<{ updates: string; hot: string }>`
      select n_tup_upd::text as updates, n_tup_hot_upd::text as hot
      from pg_stat_user_tables where schemaname = ${schema} and relname = 'records'`.execute(admin)
    const [found] = rows
    if (Number(found?.updates) >= updates)
      return (100 * Number(found?.hot)) / Number(found?.updates)
    await sql`select pg_sleep(0.05)`.execute(admin)
  }
}
