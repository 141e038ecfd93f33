import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { diagnose, migrateDown, migrateToLatest } from 'oncely/migrations'

import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()

async function emptyHost(): Promise<Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  return database.connect<unknown>({ schema: null, connectionString, max: 1 })
}

const oncelyStep = {
  up: async (db: Kysely<unknown>) => {
    await migrateToLatest(db)
  },
  down: async (db: Kysely<unknown>) => {
    await migrateDown(db, { steps: Infinity })
  },
}

async function schemas(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql`select from pg_namespace where nspname = 'idem'`.execute(db)
  return rows.length > 0
}

describe("migrateToLatest in a migration of the host's own", () => {
  for (const disableTransactions of [false, true]) {
    it(`D12: goes up and down with it, disableTransactions ${disableTransactions}`, async () => {
      const db = await emptyHost()
      const provider = { getMigrations: () => Promise.resolve({ '2026-oncely': oncelyStep }) }
      const host = new Migrator({ db, provider, disableTransactions })
      strictEqual((await host.migrateToLatest()).error, undefined)
      deepStrictEqual((await diagnose(db)).findings, [])
      strictEqual((await host.migrateDown()).error, undefined)
      strictEqual((await diagnose(db)).findings[0]?.code, 'schema_missing')
      strictEqual((await host.migrateToLatest()).error, undefined)
      deepStrictEqual((await diagnose(db)).findings, [])
    })
  }

  it('is undone with the step that fails behind it, and holds no lock afterwards', async () => {
    const db = await emptyHost()
    const boom = new Error('boom')
    const failing = {
      up: async (trx: Kysely<unknown>) => {
        await migrateToLatest(trx)
        throw boom
      },
    }
    const provider = { getMigrations: () => Promise.resolve({ '2026-failing': failing }) }
    strictEqual((await new Migrator({ db, provider }).migrateToLatest()).error, boom)
    strictEqual(await schemas(db), false)
    const { rows } = await sql`select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
    strictEqual(rows.length, 0)
  })

  it("leaves the caller's own timeouts as they were", async () => {
    const db = await emptyHost()
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout to '7s'; set local statement_timeout to '8s'`.execute(trx)
      await migrateToLatest(trx)
      const { rows } = await sql`
        select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`.execute(
        trx,
      )
      deepStrictEqual(rows, [{ lock: '7s', statement: '8s' }])
      await sql`insert into idem.oncely_migrations values ('0009-later', '2099-01-01T00:00:00.000Z')`.execute(
        trx,
      )
      await rejects(migrateToLatest(trx), { code: 'schema_newer' })
      const again = await sql`
        select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`.execute(
        trx,
      )
      deepStrictEqual(again.rows, rows)
    })
  })

  it("changes tables under the role's own lock_timeout, and without its statement_timeout", async () => {
    const db = await emptyHost()
    await sql`create table seen (lock text, statement text);
      create function look() returns event_trigger language plpgsql as $$ begin
        insert into seen values (current_setting('lock_timeout'), current_setting('statement_timeout'));
      end $$;
      create event trigger look on ddl_command_end execute function look();
      set lock_timeout to '7s'; set statement_timeout to '8s'`.execute(db)
    await migrateToLatest(db)
    const { rows } = await sql`select distinct lock, statement from seen`.execute(db)
    deepStrictEqual(rows, [{ lock: '7s', statement: '0' }])
  })

  it('says so when the caller has already failed its transaction', async () => {
    const db = await emptyHost()
    const joined = db.transaction().execute(async (trx) => {
      await rejects(sql`select 1 / 0`.execute(trx))
      await migrateToLatest(trx)
    })
    await rejects(joined, { code: 'migration_failed' })
  })
})
