import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { isOncelyError } from 'oncely'
import { diagnose, migrateToLatest } from 'oncely/migrations'

import { beside } from '../support/calls.ts'
import { startOncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'
import { untilWaiting } from '../support/waiting.ts'

const database = testDatabase()
const core = ['0001-records', '0002-outbox', '0003-sink']
const applied = core.map((name) => `applied ${name}\n`).join('')
const nothing = "nothing to do: 'idem' is up to date\n"

async function advisoryLocks(db: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]?.count ?? -1
}

describe('C26, D12: migrators at once', () => {
  it('are ten processes that all succeed, of which one does the work', async () => {
    const url = await emptyDatabase(database)
    const runs = Array.from({ length: 10 }, () => startOncely(['migrate', '--url', url]).ended)
    const ended = await Promise.all(runs)
    deepStrictEqual(
      ended.map(({ status, stdout, stderr }) => `${status}${stdout}${stderr}`).sort(),
      [`0${applied}`, ...Array.from({ length: 9 }, () => `0${nothing}`)].sort(),
    )
    const db = database.connect<unknown>({ schema: null, connectionString: url })
    deepStrictEqual((await diagnose(db)).findings, [])
    strictEqual(await advisoryLocks(db), 0)
  })

  it('may differ in whether they want the orders', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString, max: 8 })
    const runs = Array.from({ length: 8 }, (_, index) =>
      migrateToLatest(db, { withOrders: index % 2 === 0 }),
    )
    deepStrictEqual((await Promise.all(runs)).flat().sort(), [...core, '0004-orders'])
  })

  it('wait for one that is at work, longer than the timeouts of their role', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({
      schema: null,
      connectionString,
      lock_timeout: 50,
      statement_timeout: 50,
      application_name: 'second migrator',
    })
    const other = database.connect<unknown>({ schema: null, connectionString })
    const second = await other.transaction().execute(async (trx) => {
      await migrateToLatest(trx)
      const run = beside(migrateToLatest(db))
      await untilWaiting(other, 'second migrator')
      // Had it one of the two, it would have ended by now.
      await sql`select pg_sleep(0.2)`.execute(trx)
      return { run }
    })
    deepStrictEqual(await second.run, [])
  })

  it('leaves nothing when killed half-way, and the next run completes', async () => {
    const url = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString: url })
    await sql`create schema idem`.execute(db)
    await db.connection().execute(async (holder) => {
      // A table of the second migration, not yet committed: the migrator waits behind the first one.
      await sql`begin`.execute(holder)
      await sql`create table idem.outbox (mine int)`.execute(holder)
      const { child, ended } = startOncely(['migrate', '--url', `${url}?application_name=doomed`])
      await untilWaiting(db, 'doomed')
      child.kill('SIGKILL')
      strictEqual((await ended).status, null)
      await sql`rollback`.execute(holder)
    })
    deepStrictEqual(await migrateToLatest(db), core)
    deepStrictEqual((await diagnose(db)).findings, [])
  })
})

describe('a database that is newer than the code', () => {
  it('is refused, up and down, and named', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString })
    await migrateToLatest(db)
    await sql`insert into idem.oncely_migrations values ('0009-later', '2099-01-01T00:00:00.000Z')`.execute(
      db,
    )
    for (const command of [['migrate'], ['migrate', '--dry-run'], ['migrate', 'down', '--yes']]) {
      const { ended } = startOncely([...command, '--url', connectionString])
      deepStrictEqual(await ended, {
        status: 1,
        stdout: '',
        stderr:
          'oncely: the database is newer than this version of oncely, which does not know 0009-later: upgrade oncely\n',
      })
    }
    const code = await migrateToLatest(db).catch(
      (error: unknown) => isOncelyError(error) && error.code,
    )
    strictEqual(code, 'schema_newer')
  })
})
