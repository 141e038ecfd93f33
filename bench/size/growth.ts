import { randomUUID } from 'node:crypto'

import { type Kysely, sql } from 'kysely'

import { type Figure, row } from './figure.ts'
import {
  decisive,
  fill,
  freshGround,
  recordsOf,
  repeat,
  responseOf,
  scope,
  sizeOf,
  withCalls,
} from './ground.ts'
import { writtenBy } from './wal.ts'

const CALLERS = 8

/** What a great many replays leave behind: nothing. */
export async function replayGrowth(
  admin: Kysely<unknown>,
  url: string,
  replays: number,
): Promise<readonly Figure[]> {
  const ground = await freshGround(admin, url)
  const keys = Array.from({ length: 1_000 }, () => randomUUID())
  const value = responseOf(300)
  return withCalls(ground, CALLERS, async ({ idempotency }) => {
    const call = (at: number) =>
      idempotency.withIdempotency(scope, String(keys[at % keys.length]), decisive, () => value)
    // A reader tidies up what a writer has left, so that only the third round finds nothing to do.
    await repeat(2 * keys.length, CALLERS, call)
    const before = await sizeOf(ground)
    const written = await writtenBy(admin, () => repeat(replays, CALLERS, call))
    const after = await sizeOf(ground)
    const grown = {
      heap: after.heap - before.heap,
      beside: after.beside - before.beside,
      indexes: after.indexes - before.indexes,
      WAL: written.bytes + written.images,
    }
    return row('growth in bytes', `${replays} replays`, 'bytes', grown).map((figure) => ({
      ...figure,
      kept: figure.value === 0,
    }))
  })
}

/** What sweeping leaves behind, and whether the space of the responses is used again. */
export async function sweepGrowth(
  admin: Kysely<unknown>,
  url: string,
  count: number,
): Promise<readonly Figure[]> {
  const ground = await freshGround(admin, url)
  const section = `bytes a record, ${count} records swept`
  const figures: Figure[] = []
  const note = async (name: string) => {
    const { heap, beside, indexes, total } = await sizeOf(ground)
    const each = Object.entries({ heap, beside, indexes, total })
    const bytes = each.map(([part, size]) => [part, size / count] as const)
    figures.push(...row(section, name, 'bytes', Object.fromEntries(bytes)))
  }
  // As autovacuum does: a sweep that is planned without statistics takes longer the larger the table.
  const vacuum = () => sql`vacuum (analyze) ${recordsOf(ground)}`.execute(admin)
  await fill(ground, count)
  await vacuum()
  await note('before')
  await withCalls(ground, 1, ({ idempotency }) => idempotency.sweep())
  await note('swept')
  await vacuum()
  await note('swept and vacuumed')
  await fill(ground, count)
  await note('as many new records behind that')
  return figures
}
