import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { diagnose, migrateToLatest } from 'oncely/migrations'

import type { DB } from '../../codegen/db.ts'
import { serverFindings } from '../../src/doctor/server.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()

/** Settings as the role or the database has them, for every session behind. */
async function withSettings(settings: string): Promise<Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  const name = sql.id(new URL(connectionString).pathname.slice(1))
  const before = database.connect<unknown>({ schema: null, connectionString })
  await migrateToLatest(before)
  for (const setting of settings.split(';')) {
    await sql`alter database ${name} set ${sql.raw(setting)}`.execute(before)
  }
  return database.connect<unknown>({ schema: null, connectionString })
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
    it(`finds ${settings}`, async () => {
      const { findings } = await diagnose(await withSettings(settings))
      deepStrictEqual(
        findings.map((finding) => finding.code),
        [code],
      )
      match(String(findings[0]?.problem), problem)
      match(String(findings[0]?.mend), /^alter role "\w+" set \w+ to /)
    })
  }

  it('has nothing against those that are long enough', async () => {
    const db = await withSettings(
      "statement_timeout to '251ms';idle_in_transaction_session_timeout to '1001ms';idle_session_timeout to '11s'",
    )
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

  it('notes whether the pool pipelines, where it is given', async () => {
    const pipelining = async (pool?: { options: { pipeline?: boolean | undefined } }) => {
      const { notes } = await diagnose(database.watcher, pool ? { pool } : {})
      return notes.find((note) => note.startsWith('pipelining: '))
    }
    match(String(await pipelining()), /not known/)
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
  it('says what to run where tables are missing, outdated or newer', async () => {
    const connectionString = await emptyDatabase(database)
    const db = database.connect<unknown>({ schema: null, connectionString })
    const look = async () => (await diagnose(db)).findings.map(({ code, mend }) => [code, mend])
    deepStrictEqual(await look(), [['schema_missing', 'npx oncely migrate']])
    await migrateToLatest(db)
    await sql`delete from idem.oncely_migrations where name = '0003-sink'`.execute(db)
    deepStrictEqual(await look(), [['schema_outdated', 'npx oncely migrate']])
    await sql`insert into idem.oncely_migrations values ('0003-sink', '2026-01-01T00:00:00.000Z'), ('0009-later', '2099-01-01T00:00:00.000Z')`.execute(
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
    strictEqual(findings[0].problem, '1 record has no outcome, and blocks its key')
    deepStrictEqual((await diagnose(watcher)).findings, [])
  })
})
