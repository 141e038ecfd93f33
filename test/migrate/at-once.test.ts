import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { isOncelyError } from 'oncely'
import { diagnose, migrateDown, migrateToLatest, migrationStatus } from 'oncely/migrations'

import { beside, stopsAt } from '../support/calls.ts'
import { startOncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'
import { gate } from '../support/gate.ts'
import { untilWaiting } from '../support/waiting.ts'

const database = testDatabase()
const core = ['0001-records', '0002-outbox', '0003-sink']
const told = core.map((name) => `applied ${name}\n`).join('')
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
      [`0${told}`, ...Array.from({ length: 9 }, () => `0${nothing}`)].sort(),
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
    const reports = await Promise.all(runs)
    deepStrictEqual(reports.flatMap(({ applied }) => applied).sort(), [...core, '0004-orders'])
  })

  it('wait for one that is at work, longer than the timeouts of their role', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({
      schema: null,
      connectionString,
      lock_timeout: 300,
      statement_timeout: 300,
      application_name: 'second migrator',
    })
    const other = database.connect<unknown>({ schema: null, connectionString })
    const second = await other.transaction().execute(async (trx) => {
      await migrateToLatest(trx)
      const run = beside(migrateToLatest(db))
      await untilWaiting(other, 'second migrator')
      // Had it one of the two, it would have ended by now.
      await untilWaitedFor(other, 'second migrator', 500)
      return { run }
    })
    deepStrictEqual(await second.run, { applied: [] })
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
    deepStrictEqual(await migrateToLatest(db), { applied: core })
    deepStrictEqual((await diagnose(db)).findings, [])
  })
})

/** Looks until a session has waited that long, by the server's clock. */
async function untilWaitedFor(db: Kysely<unknown>, name: string, ms: number): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_stat_activity where application_name = ${name} and wait_event_type = 'Lock'
        and clock_timestamp() - query_start > ${`${ms}ms`}::interval`.execute(db)
    if (rows.length > 0) return
  }
}

describe('a migrator of somebody else', () => {
  it("is kept out by us and keeps us out, since its lock is Kysely's own", async () => {
    const connectionString = await emptyDatabase(database)
    const connect = (name: string) =>
      database.connect<unknown>({ schema: null, connectionString, application_name: name })
    const [db, theirs] = [connect('ours'), connect('theirs')]
    using held = gate()
    const provider = {
      getMigrations: () => Promise.resolve({ a: { up: () => held.pass() } }),
    }
    const first = beside(new Migrator({ db: theirs, provider }).migrateToLatest())
    await stopsAt(held, first)
    const second = beside(migrateToLatest(db))
    await untilWaiting(connect('watcher'), 'ours')
    held.open()
    strictEqual((await first).error, undefined)
    deepStrictEqual(await second, { applied: core })

    await db.transaction().execute(async (trx) => {
      await migrateToLatest(trx)
      const third = beside(new Migrator({ db: theirs, provider }).migrateToLatest())
      await untilWaiting(connect('watcher'), 'theirs')
      return { third }
    })
  })

  it('is named when it does not end, and not waited for longer than said', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString })
    await db.transaction().execute(async (trx) => {
      await migrateToLatest(trx)
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      // As a migration of the host does that imports its own Kysely instead of using the one given.
      await rejects(migrateToLatest(db, { waitTimeoutMs: 50 }), {
        code: 'migration_failed',
        message: new RegExp(`held the lock for 50 ms, the session with the pid ${rows[0]?.pid}:`),
      })
    })
    await rejects(migrateToLatest(db, { waitTimeoutMs: 0 }), { code: 'invalid_options' })
  })

  it('may create schema and bookkeeping before it takes the lock', async () => {
    const connectionString = await emptyDatabase(database)
    const connect = (name: string) =>
      database.connect<unknown>({ schema: null, connectionString, application_name: name })
    const db = connect('overtaken')
    const theirs = connect('theirs')
    const { run } = await theirs.transaction().execute(async (trx) => {
      await sql`create schema idem`.execute(trx)
      await sql`create table idem.oncely_migrations (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(
        trx,
      )
      const overtaken = beside(migrateToLatest(db))
      await untilWaiting(connect('watcher'), 'overtaken')
      return { run: overtaken }
    })
    deepStrictEqual(await run, { applied: core })
    deepStrictEqual((await diagnose(db)).findings, [])
  })
})

describe('the clock of a machine that is behind', () => {
  it('leaves the order in which migrations were applied', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString })
    await migrateToLatest(db)
    await sql`update idem.oncely_migrations set timestamp = '2099-01-01T00:00:00.000Z'
      where name = '0003-sink'`.execute(db)
    await migrateToLatest(db, { withOrders: true })
    deepStrictEqual((await migrationStatus(db)).at(-1)?.name, '0004-orders')
    deepStrictEqual(await migrateDown(db), { undone: ['0004-orders'] })
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
          'oncely: the database is newer than this version of oncely, which does not know 0009-later: upgrade oncely [schema_newer]\n',
      })
    }
    const code = await migrateToLatest(db).catch(
      (error: unknown) => isOncelyError(error) && error.code,
    )
    strictEqual(code, 'schema_newer')
  })
})
