// `npm run bench:starvation`: many replays of one key at once, and whether anything else still gets at its
// record: `expire` within the window, and the sweeper behind it. Printed: how long `expire` waited, at which
// try a sweep found the record that was due, and how many members of multixacts a replay made.
import { setTimeout } from 'node:timers/promises'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import { createIdempotency, fingerprint, type Idempotency } from '../src/index.ts'
import { migrateToLatest } from '../src/migrations.ts'
import { oncelyDialect } from '../src/pg.ts'
import { startEmbeddedServer } from '../test/support/embedded-server.ts'

const REPLAYERS = 64
const PATIENCE_MS = 20_000
const WINDOW_MS = 3_000
const print = fingerprint(1, { version: 1 })
const scopeOf = (operation: string) => ({ tenant: 't', actor: 'a', operation })

const server = await startEmbeddedServer()
const connect = (max: number) =>
  new Kysely<never>({
    dialect: oncelyDialect(
      new PostgresDialect({ pool: new Pool({ connectionString: server.url, max }) }),
    ),
  })
const db = connect(REPLAYERS)
const apart = connect(1)
const idempotency = createIdempotency(db)
const beside = createIdempotency(apart)

/** Holds the record for 5 ms, as a second statement may. */
const held = idempotency.withOptions({
  authorize: async (tx) => {
    await sql`select pg_sleep(0.005)`.execute(tx)
    return true
  },
})

/** What is replayed, whatever kinds its results have. */
interface Replaying {
  withIdempotency(...given: Parameters<Idempotency<never>['withIdempotency']>): Promise<unknown>
  withOptions(options: { readonly replayWindowMs: number }): Replaying
}

async function membersOfMultixacts(): Promise<number> {
  await sql`checkpoint`.execute(apart)
  const { rows } = await sql<{ next: string }>`
    select next_multi_offset::text as next from pg_control_checkpoint()`.execute(apart)
  return Number(rows[0]?.next)
}

/** Replays one key from all sides while something else is done. */
async function storm<Result>(
  replaying: Replaying,
  operation: string,
  meanwhile: () => Promise<Result>,
): Promise<{ result: Result; replays: number; members: number }> {
  const call = () => replaying.withIdempotency(scopeOf(operation), 'k', print, () => 'done')
  await call()
  const before = await membersOfMultixacts()
  let over = false
  let replays = 0
  const replayer = async () => {
    while (!over) {
      await call()
      replays += 1
    }
  }
  const replayers = Array.from({ length: REPLAYERS }, replayer)
  await setTimeout(1_000)
  const result = await meanwhile()
  over = true
  await Promise.all(replayers)
  return { result, replays, members: (await membersOfMultixacts()) - before }
}

async function expiring(operation: string): Promise<string> {
  const begun = performance.now()
  const expired = beside.expire(scopeOf(operation), 'k')
  const ended = await Promise.race([expired.then(() => true), setTimeout(PATIENCE_MS, false)])
  expired.catch(() => undefined)
  const ms = (performance.now() - begun).toFixed(0)
  return ended ? `waited ${ms} ms` : `waited more than ${PATIENCE_MS} ms, and was given up`
}

/** From when it is due. */
async function sweeping(): Promise<string> {
  await setTimeout(WINDOW_MS)
  for (let tries = 1; tries <= 50; tries += 1) {
    const { cleared } = await beside.sweep()
    if (cleared > 0) return `found what was due at try ${tries}`
    await setTimeout(20)
  }
  return 'found it in none of 50 tries'
}

try {
  await migrateToLatest(db)
  const ways: readonly (readonly [string, Replaying])[] = [
    ['as it is', idempotency],
    ["replayLock 'share'", idempotency.withOptions({ replayLock: 'share' })],
    ['authorize, which takes 5 ms', held],
  ]
  for (const [way, replaying] of ways) {
    const { result, replays, members } = await storm(replaying, `expire ${way}`, () =>
      expiring(`expire ${way}`),
    )
    const each = (members / replays).toFixed(1)
    const shortly = replaying.withOptions({ replayWindowMs: WINDOW_MS })
    const swept = await storm(shortly, `sweep ${way}`, sweeping)
    console.log(
      `${way}: expire ${result}; sweeping ${swept.result}; ${each} members a replay, of ${replays}`,
    )
  }
} finally {
  await Promise.all([db.destroy(), apart.destroy()])
  await server.stop()
}
