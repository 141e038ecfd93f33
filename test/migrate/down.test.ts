import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { type MigrationResultSet, Migrator } from 'kysely/migration'

import { dumpSchema } from '../../codegen/dump-schema.ts'
import {
  bookkeeping,
  coreMigrations,
  migrationsFor,
  ordersMigrations,
} from '../../migrations/index.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const names = [...Object.keys(coreMigrations), ...Object.keys(ordersMigrations)]

function migratorOf(db: Kysely<unknown>, schema: string): Migrator {
  const migrations = migrationsFor(schema, [coreMigrations, ordersMigrations])
  return new Migrator({
    ...bookkeeping,
    db,
    migrationTableSchema: schema,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  })
}

function applied({ error, results = [] }: MigrationResultSet): string {
  strictEqual(error, undefined)
  deepStrictEqual(
    results.map(({ status }) => status),
    ['Success'],
  )
  return String(results[0]?.migrationName)
}

/** Everything that a schema can hold, but for the migrator's own two tables. */
async function leftIn(db: Kysely<unknown>, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from (
      select relname as name, relnamespace as of from pg_class
      union all select proname, pronamespace from pg_proc
      union all select typname, typnamespace from pg_type
      union all select conname, connamespace from pg_constraint
    ) objects
    where of = ${schema}::regnamespace and name !~ '^_?oncely_migrations'`.execute(db)
  return rows.map(({ name }) => name)
}

describe('the migrations', () => {
  for (const schema of ['idem', 'Idem "2"']) {
    it(`are each undone by their down, and can be applied again, in ${schema}`, async () => {
      const connectionString = await emptyDatabase(database)
      const db = database.connect<unknown>({ schema: null, connectionString })
      const quoted = `"${schema.replaceAll('"', '""')}"`
      const migrator = migratorOf(db, schema)
      // The step makes the bookkeeping tables too, which stay; so the comparison starts behind them.
      await migrator.migrateUp()
      await migrator.migrateDown()
      const before: string[] = []
      for (const name of names) {
        before.push(await dumpSchema(db, schema))
        strictEqual(applied(await migrator.migrateUp()), name)
      }
      const whole = await dumpSchema(db, schema)
      for (const name of names.toReversed()) {
        strictEqual(applied(await migrator.migrateDown()), name)
        strictEqual(await dumpSchema(db, schema), before.pop())
      }
      deepStrictEqual(await leftIn(db, quoted), [])
      for (const name of names) strictEqual(applied(await migrator.migrateUp()), name)
      strictEqual(await dumpSchema(db, schema), whole)
    })
  }

  it('are in migrations/index.ts, every file and nothing else, in the order of their numbers', () => {
    const files = readdirSync(join(import.meta.dirname, '../../migrations'))
      .filter((file) => /^\d/.test(file))
      .sort()
    deepStrictEqual(
      files,
      names.map((name) => `${name}.ts`),
    )
  })
})
