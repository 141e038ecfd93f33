import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { diagnose, migrateDown, migrateToLatest } from 'oncely/migrations'

import type { DB } from '../../codegen/db.ts'
import { serverFindings } from '../../src/doctor/server.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()

/** A database whose settings hold for every session behind, as an application connects to it. */
async function withSettings(settings: string): Promise<() => Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  const name = sql.id(new URL(connectionString).pathname.slice(1))
  const connect = () => database.connect<unknown>({ schema: null, connectionString })
  const before = connect()
  await migrateToLatest(before)
  for (const setting of settings.split(';')) {
    await sql`alter database ${name} set ${sql.raw(setting)}`.execute(before)
  }
  return connect
}

const problems: readonly [settings: string, code: string, problem: RegExp][] = [
  ["default_transaction_isolation to 'serializable'", 'isolation_default', /is serializable/],
  ["default_transaction_isolation to 'repeatable read'", 'isolation_default', /repeatable read/],
  ['default_transaction_read_only to on', 'read_only', /default_transaction_read_only is on/],
  ["statement_timeout to '250ms'", 'timeout_short', /statement_timeout is 250 ms/],
  [
    "idle_in_transaction_session_timeout to '1s'",
    'timeout_short',
    /idle_in_transaction_.* 1000 ms/,
  ],
  ["idle_session_timeout to '10s'", 'timeout_short', /idle_session_timeout is 10000 ms/],
]

describe('doctor on the settings of a role', () => {
  for (const [settings, code, problem] of problems) {
    it(`finds ${settings}, and its mend mends it`, async () => {
      const connect = await withSettings(settings)
      const db = connect()
      const { findings } = await diagnose(db)
      deepStrictEqual(
        findings.map((finding) => finding.code),
        [code],
      )
      match(String(findings[0]?.problem), problem)
      await sql.raw(String(findings[0]?.sql)).execute(db)
      deepStrictEqual((await diagnose(connect())).findings, [])
    })
  }

  it('has nothing against those that are long enough', async () => {
    const connect = await withSettings(
      "statement_timeout to '251ms';idle_in_transaction_session_timeout to '1001ms';idle_session_timeout to '11s'",
    )
    const db = connect()
    deepStrictEqual((await diagnose(db)).findings, [])
    const { findings } = await diagnose(db, { lockTimeoutMs: 251 })
    strictEqual(findings[0]?.code, 'timeout_short')
  })

  it('finds a server of an older version, and looks no further', () => {
    const server = { version: 130_023, server_version: '13.23' } as Parameters<
      typeof serverFindings
    >[0]
    deepStrictEqual(serverFindings(server, 250), [
      {
        code: 'server_too_old',
        problem: 'the server is PostgreSQL 13.23',
        mend: 'upgrade it to PostgreSQL 14 or newer',
      },
    ])
  })

  it("finds a timeout of the pool's own, where that is given", async () => {
    const pool = (query_timeout: number) => database.pool({ query_timeout })
    const [finding] = (await diagnose(database.watcher, { pool: pool(250) })).findings
    match(String(finding?.problem), /^query_timeout of the pool is 250 ms/)
    deepStrictEqual((await diagnose(database.watcher, { pool: pool(251) })).findings, [])
  })

  it('finds a standby', () => {
    const timeouts = {}
    const standby = { version: 180_000, isolation: 'read committed', in_recovery: true, timeouts }
    const [finding, ...more] = serverFindings(
      { ...standby, role: 'r', database: 'd' } as Parameters<typeof serverFindings>[0],
      250,
    )
    deepStrictEqual(
      [finding?.code, finding?.mend, more],
      ['read_only', 'connect to the primary', []],
    )
  })

  it('notes whether the pool pipelines, where it is given', async () => {
    const pipelining = async (pool?: { options: { pipeline?: boolean | undefined } }) => {
      const { notes } = await diagnose(database.watcher, pool ? { pool } : {})
      return notes.find((note) => note.startsWith('pipelining: '))
    }
    strictEqual(await pipelining(), undefined)
    match(String(await pipelining(database.pool())), /off/)
    match(String(await pipelining(database.pool({ pipeline: true }))), /on$/)
  })

  it('refuses a transaction, and a timeout that is none', async () => {
    await database.watcher.transaction().execute(async (trx) => {
      await rejects(diagnose<DB>(trx), { code: 'invalid_options' })
    })
    await rejects(diagnose(database.watcher, { lockTimeoutMs: 0 }), { code: 'invalid_options' })
  })
})

describe('doctor on the migrations', () => {
  const losses = {
    'the table': 'drop table idem.oncely_migrations',
    'a row': "delete from idem.oncely_migrations where name = '0002-outbox'",
    'every row': 'delete from idem.oncely_migrations',
    'a column': 'alter table idem.oncely_migrations drop column timestamp',
  }
  for (const [what, hand] of Object.entries(losses)) {
    it(`finds that the bookkeeping has lost ${what}, and its mend mends it`, async () => {
      const connectionString = await emptyDatabase(database)
      const db = database.connect<unknown>({ schema: null, connectionString })
      await migrateToLatest(db, { withOrders: true })
      await sql.raw(hand).execute(db)
      const { findings } = await diagnose(db)
      deepStrictEqual([...new Set(findings.map(({ code }) => code))], ['schema_drift'])
      for (const { sql: statement } of findings) await sql.raw(String(statement)).execute(db)
      if (what === 'a column') return
      deepStrictEqual((await diagnose(db)).findings, [])
      deepStrictEqual(await migrateToLatest(db), { applied: [] })
    })
  }

  it('is not misled by another name of the schema, nor by quoting everything', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString, max: 1 })
    await migrateToLatest(db)
    await sql`set quote_all_identifiers to on`.execute(db)
    deepStrictEqual((await diagnose(db)).findings, [])
    await sql`alter schema idem rename to renamed`.execute(db)
    deepStrictEqual((await diagnose(db, { schema: 'renamed' })).findings, [])
  })

  it('says what to run where tables are missing, outdated or newer', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString })
    const look = async () => (await diagnose(db)).findings.map(({ code, mend }) => [code, mend])
    deepStrictEqual(await look(), [['schema_missing', 'npx oncely migrate']])
    await migrateToLatest(db)
    await migrateDown(db)
    deepStrictEqual(await look(), [['schema_outdated', 'npx oncely migrate']])
    await migrateToLatest(db)
    await sql`insert into idem.oncely_migrations values ('0009-later', '2099-01-01T00:00:00.000Z')`.execute(
      db,
    )
    deepStrictEqual(await look(), [['schema_newer', 'npm install oncely@latest']])
  })

  it('finds claims that were committed without an outcome', async () => {
    const { watcher } = database
    await watcher.transaction().execute(async (trx) => {
      await sql`set local session_replication_role to replica`.execute(trx)
      await sql`insert into idem.records (tenant, actor, operation, key, attempt, state, fingerprint_algorithm, fingerprint_version, fingerprint, replay_until)
        values ('t', 'a', 'o', 'k', gen_random_uuid(), 'claimed', 'sha256', 1, sha256('x'), now())`.execute(
        trx,
      )
    })
    const { findings } = await diagnose(watcher)
    await sql`delete from idem.records`.execute(watcher)
    strictEqual(findings[0]?.code, 'claim_committed')
    strictEqual(findings[0].problem, 'records without an outcome, whose keys are blocked: 1')
    deepStrictEqual((await diagnose(watcher)).findings, [])
  })
})
