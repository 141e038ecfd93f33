import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'

import { CamelCasePlugin, type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { createIdempotency, fingerprint, isOncelyError } from 'oncely'
import { migrateToLatest } from 'oncely/migrations'

import type { DB } from '../../codegen/db.ts'
import { dumpSchema } from '../../codegen/dump-schema.ts'
import { type ConnectOptions, testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const core = ['0001-records', '0002-outbox', '0003-sink']

async function emptyHost(options: ConnectOptions = {}): Promise<Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  return database.connect<unknown>({ schema: null, connectionString, ...options })
}

async function tablesIn(db: Kysely<unknown>, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema} order by 1`.execute(db)
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('oncely_migrations'))
}

describe('migrating an empty database', () => {
  it('creates our tables and not the orders, and has nothing to do a second time', async () => {
    const db = await emptyHost()
    deepStrictEqual(await migrateToLatest(db), { applied: core })
    deepStrictEqual(await tablesIn(db, 'idem'), [
      'outbox',
      'quota_uses',
      'records',
      'sink',
      'sink_sequences',
      'uncommittable',
    ])
    deepStrictEqual(await migrateToLatest(db), { applied: [] })
  })

  it('creates the orders when asked', async () => {
    const db = await emptyHost()
    deepStrictEqual(await migrateToLatest(db, { withOrders: true }), {
      applied: [...core, '0004-orders'],
    })
    deepStrictEqual((await tablesIn(db, 'idem')).includes('orders'), true)
    deepStrictEqual(await migrateToLatest(db, { withOrders: true }), { applied: [] })
  })

  it('keeps the orders included once they were applied, asked or not', async () => {
    const db = await emptyHost()
    await migrateToLatest(db)
    deepStrictEqual(await migrateToLatest(db, { withOrders: true }), { applied: ['0004-orders'] })
    deepStrictEqual(await migrateToLatest(db), { applied: [] })
    deepStrictEqual(await migrateToLatest(db, { withOrders: false }), { applied: [] })
  })

  it('keeps the schemas of one database apart', async () => {
    const db = await emptyHost()
    await migrateToLatest(db, { withOrders: true })
    deepStrictEqual(await migrateToLatest(db, { schema: 'other' }), { applied: core })
    deepStrictEqual((await tablesIn(db, 'other')).includes('orders'), false)
    deepStrictEqual(await migrateToLatest(db, { schema: 'other' }), { applied: [] })
  })
})

describe('a schema by another name', () => {
  for (const schema of ['billing', 'Billing Dept', `o'neil "&" \\sons$$; --`, 'é'.repeat(31)]) {
    it(`works and keeps its guard at commit: ${schema}`, async () => {
      const db = (await emptyHost()) as Kysely<DB>
      deepStrictEqual(await migrateToLatest(db, { schema, withOrders: true }), {
        applied: [...core, '0004-orders'],
      })
      deepStrictEqual(await migrateToLatest(db, { schema }), { applied: [] })
      deepStrictEqual(await tablesIn(db as Kysely<unknown>, 'idem'), [])

      const scope = { tenant: 't', actor: 'a', operation: 'o' }
      const idempotency = createIdempotency(db, { schema })
      const call = () =>
        idempotency.withIdempotency(scope, 'k', fingerprint(1, { version: 1 }), () => 1)
      strictEqual((await call()).kind, 'executed')
      strictEqual((await call()).kind, 'replayed')
      const claim = db
        .withSchema(schema)
        .insertInto('records')
        .values({
          tenant: 't',
          actor: 'a',
          operation: 'o',
          key: 'unfinished',
          attempt: randomUUID(),
          state: 'claimed',
          fingerprint_algorithm: 'sha256',
          fingerprint_version: 1,
          fingerprint: Buffer.alloc(32),
          replay_until: new Date(),
        })
      await rejects(claim.execute(), { code: '23503', constraint: 'records_outcome_at_commit' })
    })
  }

  for (const schema of ['', 'a\0b', 'x'.repeat(64), 'é'.repeat(32)]) {
    it(`is refused when PostgreSQL would not keep it as it is: ${JSON.stringify(schema)}`, async () => {
      await rejects(migrateToLatest(database.watcher, { schema }), { code: 'invalid_options' })
    })
  }
})

describe('migrating in the database of a host', () => {
  it("leaves a host alone that uses Kysely's own bookkeeping table", async () => {
    const db = await emptyHost()
    const notes = {
      up: (host: Kysely<unknown>) =>
        host.schema.createTable('notes').addColumn('id', 'text').execute(),
    }
    const provider = { getMigrations: () => Promise.resolve({ '2024-notes': notes }) }
    const host = new Migrator({ db, provider })
    const migrateHost = async () => {
      const { error, results } = await host.migrateToLatest()
      strictEqual(error, undefined)
      return results?.length
    }
    strictEqual(await migrateHost(), 1)
    deepStrictEqual(await migrateToLatest(db), { applied: core })
    strictEqual(await migrateHost(), 0)
    deepStrictEqual(await migrateToLatest(db), { applied: [] })
    deepStrictEqual(await tablesIn(db, 'public'), [
      'kysely_migration',
      'kysely_migration_lock',
      'notes',
    ])
  })

  for (const upperCase of [false, true]) {
    it(`is the same under the host's CamelCasePlugin, upperCase ${upperCase}`, async () => {
      const plugin = new CamelCasePlugin({ upperCase })
      const [plain, camel] = [await emptyHost(), await emptyHost({ plugins: [plugin] })]
      const options = { schema: 'ourTables', withOrders: true }
      await migrateToLatest(plain, options)
      deepStrictEqual(await migrateToLatest(camel, options), { applied: [...core, '0004-orders'] })
      deepStrictEqual(await migrateToLatest(camel, { schema: 'ourTables' }), { applied: [] })
      const dump = await dumpSchema(plain, 'ourTables')
      strictEqual(dump.match(/create table/g)?.length, 8)
      strictEqual(await dumpSchema(camel.withoutPlugins(), 'ourTables'), dump)
    })
  }

  it('reports a migration that fails, leaves nothing of the run and goes through later', async () => {
    const db = await emptyHost()
    await sql`create schema idem create table outbox (mine text)`.execute(db)
    await rejects(migrateToLatest(db), (error: unknown) => {
      strictEqual(isOncelyError(error) && error.code, 'migration_failed')
      const { message, cause } = error as Error & { cause: { code: string } }
      match(message, /^migration 0002-outbox failed: ./)
      strictEqual(cause.code, '42P07')
      return true
    })
    deepStrictEqual(await tablesIn(db, 'idem'), ['outbox'])
    await sql`drop table idem.outbox`.execute(db)
    deepStrictEqual(await migrateToLatest(db), { applied: core })
  })
})
