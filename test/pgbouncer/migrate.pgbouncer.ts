import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { diagnose, migrateDown, migrateToLatest } from 'oncely/migrations'

import { oncely, startOncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { openBackends } from './clients.ts'

const database = testDatabase()
const pooler = pgBouncer(database.url, { poolSize: 4 })
const core = ['0001-records', '0002-outbox', '0003-sink']

/** An empty database, directly and through the pooler, which has several server connections to it. */
async function emptyHost() {
  const url = await emptyDatabase(database)
  const pooled = pooler.urlOf(new URL(url).pathname.slice(1))
  const direct = database.connect<unknown>({ schema: null, connectionString: url })
  await openBackends({ ...pooler, url: () => pooled }, database, 4)
  const through = (max = 1) =>
    database.connect<unknown>({ schema: null, connectionString: pooled, max })
  return { direct, pooled, through }
}

async function advisoryLocks(direct: Kysely<unknown>): Promise<number> {
  const { rows } = await sql`select from pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`.execute(direct)
  return rows.length
}

describe('C14: migrations through a pooler in transaction mode', () => {
  it("would strand a lock of the session, as Kysely's own migrator shows", async () => {
    const { direct, through } = await emptyHost()
    const provider = {
      getMigrations: () => Promise.resolve({ a: { up: () => Promise.resolve() } }),
    }
    await new Migrator({ db: through(), provider }).migrateToLatest()
    strictEqual(await advisoryLocks(direct), 1)
  })

  it('go up and down again and again, and leave no lock', async () => {
    const { direct, through } = await emptyHost()
    const db = through()
    for (const _ of [1, 2, 3]) {
      deepStrictEqual(await migrateToLatest(db), { applied: core })
      deepStrictEqual(await migrateToLatest(db), { applied: [] })
      strictEqual(await advisoryLocks(direct), 0)
      deepStrictEqual(await migrateDown(db, { steps: Infinity }), { undone: core.toReversed() })
    }
    strictEqual(await advisoryLocks(direct), 0)
  })

  it('are done once by ten at the same moment, who all succeed', async () => {
    const { direct, pooled } = await emptyHost()
    const runs = Array.from({ length: 10 }, () => startOncely(['migrate', '--url', pooled]).ended)
    const ended = await Promise.all(runs)
    deepStrictEqual(
      ended.map(({ status, stderr }) => `${status}${stderr}`),
      Array.from({ length: 10 }, () => '0'),
    )
    strictEqual(ended.filter(({ stdout }) => stdout.startsWith('applied')).length, 1)
    strictEqual(await advisoryLocks(direct), 0)
    deepStrictEqual((await diagnose(direct)).findings, [])
  })

  it('leave no lock when one fails', async () => {
    const { direct, pooled } = await emptyHost()
    await sql`create schema idem; create table idem.outbox (mine int)`.execute(direct)
    strictEqual(oncely(['migrate', '--url', pooled]).status, 1)
    strictEqual(await advisoryLocks(direct), 0)
    await sql`drop table idem.outbox`.execute(direct)
    strictEqual(oncely(['migrate', '--url', pooled]).status, 0)
    strictEqual(oncely(['doctor', '--url', pooled]).status, 0)
  })
})
