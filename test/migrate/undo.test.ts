import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import {
  describeMigrateDown,
  diagnose,
  grantStatements,
  migrateDownScript,
  migrateDown,
  migrateToLatest,
  migrateToLatestScript,
  migrationStatus,
} from 'oncely/migrations'

import { dumpSchema } from '../../codegen/dump-schema.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const core = ['0001-records', '0002-outbox', '0003-sink']

async function emptyHost(): Promise<Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  return database.connect<unknown>({ schema: null, connectionString })
}

describe('migrationStatus', () => {
  it('tells what is applied, pending, optional and unknown', async () => {
    const db = await emptyHost()
    const states = async () =>
      (await migrationStatus(db)).map(({ name, state }) => `${state} ${name}`)
    const optional = 'optional 0004-orders'
    deepStrictEqual(await states(), [...core.map((name) => `pending ${name}`), optional])
    await migrateToLatest(db)
    deepStrictEqual(await states(), [...core.map((name) => `applied ${name}`), optional])
    await migrateDown(db)
    await sql`insert into idem.oncely_migrations values ('0009-later', '2099-01-01T00:00:00.000Z')`.execute(
      db,
    )
    deepStrictEqual(await states(), [
      'applied 0001-records',
      'applied 0002-outbox',
      'unknown 0009-later',
      'pending 0003-sink',
      optional,
    ])
    const [first] = await migrationStatus(db)
    strictEqual(first?.state === 'applied' && first.appliedAt instanceof Date, true)
  })
})

describe('migrateDown', () => {
  it('undoes the last one, several or all, and what goes is told beforehand', async () => {
    const db = await emptyHost()
    await migrateToLatest(db, { withOrders: true })
    await sql`insert into idem.sink (consumer, event_id) values ('c', '1'), ('c', '2')`.execute(db)
    deepStrictEqual(await describeMigrateDown(db, { steps: 2 }), [
      { table: 'orders', rows: 0 },
      { table: 'sink', rows: 2 },
      { table: 'sink_sequences', rows: 0 },
    ])
    deepStrictEqual(await migrateDown(db), { undone: ['0004-orders'] })
    deepStrictEqual(await migrateDown(db, { steps: 2 }), { undone: ['0003-sink', '0002-outbox'] })
    deepStrictEqual(await migrateDown(db, { steps: Infinity }), { undone: ['0001-records'] })
    deepStrictEqual(await migrateDown(db), { undone: [] })
    deepStrictEqual(await describeMigrateDown(db), [])
    deepStrictEqual(await migrateToLatest(db), { applied: core })
    deepStrictEqual((await diagnose(db)).findings, [])
  })

  it('keeps everything when one of them fails', async () => {
    const db = await emptyHost()
    await migrateToLatest(db)
    await sql`create view idem.mine as select * from idem.outbox`.execute(db)
    await rejects(migrateDown(db, { steps: Infinity }), {
      code: 'migration_failed',
      message: /^migration 0002-outbox failed: /,
    })
    deepStrictEqual((await diagnose(db)).findings, [])
  })

  for (const steps of [0, -1, 1.5, NaN, '1' as never]) {
    it(`refuses ${String(steps)} steps`, async () => {
      await rejects(migrateDown(database.watcher, { steps }), { code: 'invalid_options' })
    })
  }

  it('refuses what is not a Kysely, and what is not a flag', async () => {
    for (const db of [undefined, {}, database.pool()] as never[]) {
      for (const call of [
        migrateToLatest,
        migrateToLatestScript,
        migrateDown,
        migrateDownScript,
        describeMigrateDown,
        migrationStatus,
        diagnose,
      ]) {
        await rejects(call(db), { code: 'invalid_options' })
      }
    }
    const yes = 'yes' as never
    await rejects(migrateToLatest(database.watcher, { withOrders: yes }), {
      code: 'invalid_options',
    })
    await rejects(diagnose(database.watcher, { sweeper: yes }), { code: 'invalid_options' })
    await rejects(diagnose(database.watcher, { pool: {} as never }), { code: 'invalid_options' })
    throws(() => grantStatements({ role: 'app', sweeper: yes }), { code: 'invalid_options' })
    throws(() => grantStatements({ role: 'public' }), { code: 'invalid_options' })
  })

  it('refuses an option that there is not', async () => {
    const options = { step: 1 } as object
    await rejects(migrateDown(database.watcher, options), { code: 'invalid_options' })
    await rejects(migrateToLatest(database.watcher, options), { code: 'invalid_options' })
    await rejects(migrationStatus(database.watcher, options), { code: 'invalid_options' })
    await rejects(diagnose(database.watcher, options), { code: 'invalid_options' })
  })
})

describe('a script', () => {
  for (const schema of ['idem', 'My "Idem"; --']) {
    it(`does by hand what the function does, in ${schema}`, async () => {
      const [byHand, byFunction] = [await emptyHost(), await emptyHost()]
      const script = await migrateToLatestScript(byHand, { schema, withOrders: true })
      strictEqual((await migrationStatus(byHand, { schema }))[0]?.state, 'pending')
      await sql.raw(script).execute(byHand)
      await migrateToLatest(byFunction, { schema, withOrders: true })
      strictEqual(await dumpSchema(byHand, schema), await dumpSchema(byFunction, schema))
      deepStrictEqual(await migrateToLatest(byHand, { schema, withOrders: true }), { applied: [] })
      strictEqual(await migrateToLatestScript(byHand, { schema, withOrders: true }), '')

      const down = await migrateDownScript(byHand, { schema, steps: Infinity })
      deepStrictEqual((await diagnose(byHand, { schema })).findings, [])
      await sql.raw(down).execute(byHand)
      strictEqual((await diagnose(byHand, { schema })).findings[0]?.code, 'schema_missing')
      strictEqual(await migrateDownScript(byHand, { schema }), '')
      deepStrictEqual(await migrateToLatest(byHand, { schema }), { applied: core })
    })
  }
})
