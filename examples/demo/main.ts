// `npm run demo`: the main job on a real PostgreSQL, an embedded one unless DATABASE_URL is set.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { isOncelyError } from 'oncely'
import { migrateToLatest } from 'oncely/migrations'

import type { DB } from '../../codegen/db.ts'
import { checkConnection } from '../../src/postgres/server.ts'
import { givenServer } from '../../test/support/database-server.ts'
import { startEmbeddedServer } from '../../test/support/embedded-server.ts'
import { title, verdict } from './print.ts'
import { scenarios } from './scenarios.ts'
import { openStage, type Stage } from './stage.ts'

/** Plays every scenario, also behind one that failed, and says how many passed. */
async function playAll(stage: Stage): Promise<boolean> {
  let passed = 0
  for (const scenario of scenarios) {
    title(scenario.title)
    try {
      await scenario.play(stage)
      passed += 1
      verdict(true)
    } catch (error) {
      verdict(false, error instanceof Error ? error.message : String(error))
    }
  }
  title(`${passed} of ${scenarios.length} passed`)
  return passed === scenarios.length
}

async function countAll(db: Kysely<DB>): Promise<boolean> {
  const tables = ['orders', 'outbox', 'sink', 'records'] as const
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const { n } = await db
      .selectFrom(table)
      .select(sql<number>`count(*)::int`.as('n'))
      .executeTakeFirstOrThrow()
    counts[table] = n
  }
  console.log(tables.map((table) => `${table} ${counts[table]}`).join(', '))
  return isDeepStrictEqual(counts, { orders: 3, outbox: 3, sink: 3, records: 3 })
}

async function run(url: string): Promise<boolean> {
  await checkConnection(url)
  const stage = openStage(url, `oncely_demo_${randomBytes(4).toString('hex')}`)
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.once(signal, () => void stage.clear().finally(() => process.exit(code)))
  }
  try {
    await migrateToLatest(stage.watcher, { schema: stage.schema, withOrders: true })
    const passed = await playAll(stage)
    return (await countAll(stage.watcher)) && passed
  } finally {
    await stage.leave()
  }
}

// Whoever reads the output may have seen enough of it; what follows still has to be put away.
process.stdout.on('error', () => undefined)

try {
  const url = process.env['DATABASE_URL']
  const server = url ? givenServer(url) : await startEmbeddedServer()
  try {
    process.exitCode = (await run(server.url)) ? 0 : 1
  } finally {
    await server.stop()
  }
} catch (error) {
  if (!isOncelyError(error)) throw error
  console.error(`oncely: ${error.message}`)
  process.exitCode = 1
}
