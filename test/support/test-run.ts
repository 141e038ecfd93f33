import { randomBytes } from 'node:crypto'

import { Kysely, PostgresDialect } from 'kysely'
import { Client, Pool } from 'pg'

import { OncelyError } from '../../src/errors.ts'
import { migrateToLatest } from '../../src/migrations.ts'

/** The databases of one test run on a server: a migrated template, and a clone a test file. */
export interface TestRun {
  /** What the test files find their databases by. */
  readonly env: {
    readonly ONCELY_TEST_SERVER: string
    readonly ONCELY_TEST_RUN: string
    /** How a database is copied there. */
    readonly ONCELY_TEST_STRATEGY: string
  }
  /** Drops every database of this run, unless the server is thrown away with all of them. */
  end(options?: { readonly drop: boolean }): Promise<void>
}

const PREFIX = 'oncely_test_'

export async function startTestRun(url: string): Promise<TestRun> {
  const run = randomBytes(4).toString('hex')
  // The session is what a run is known to be alive by, in every database of the server.
  const client = new Client({ connectionString: url, application_name: PREFIX + run })
  client.on('error', () => undefined)
  await client.connect()
  let strategy: string
  try {
    await dropFinishedRuns(client)
    strategy = await cheapestStrategy(client)
    await createTemplate(client, url, `${PREFIX}${run}_template`)
  } catch (cause) {
    await client.end()
    throw new OncelyError('database_refused', `no database for tests: ${String(cause)}`, { cause })
  }
  return {
    env: {
      ONCELY_TEST_SERVER: url,
      ONCELY_TEST_RUN: PREFIX + run,
      ONCELY_TEST_STRATEGY: strategy,
    },
    async end({ drop } = { drop: true }) {
      if (drop) await dropDatabases(client, PREFIX + run)
      await client.end()
    },
  }
}

/** Name of the migrated database that a run's clones are made from. */
export function templateOf(run: string): string {
  return `${run}_template`
}

/** The statement that makes a database of a run, empty or as a copy of another. */
export function createDatabase(name: string, template = 'template1'): string {
  const { ONCELY_TEST_STRATEGY: strategy = '' } = process.env
  return `create database ${name} template ${template} ${strategy}`
}

/** The same server, another database. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

async function createTemplate(client: Client, url: string, name: string): Promise<void> {
  await client.query(`create database ${name}`)
  const pool = new Pool({ connectionString: urlOf(url, name), max: 1 })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await migrateToLatest(db, { withOrders: true })
  } finally {
    await db.destroy()
  }
}

/**
 * As files it takes half as long to copy a database as through the log, where the checkpoints around it
 * reach no disk. PostgreSQL 14 has no other way, and no word for it.
 */
async function cheapestStrategy(client: Client): Promise<string> {
  const { rows } = await client.query<{ strategy: string }>(
    `select case when current_setting('fsync') = 'off'
         and current_setting('server_version_num')::int >= 150000
       then 'strategy file_copy' else '' end as strategy`,
  )
  return String(rows[0]?.strategy)
}

/** On a server that stays, a run that was killed leaves its databases to the next one. */
async function dropFinishedRuns(client: Client): Promise<void> {
  const { rows } = await client.query<{ run: string }>(
    `select distinct substring(datname from '^${PREFIX}[0-9a-f]{8}') as run
     from pg_database where datname ~ '^${PREFIX}[0-9a-f]{8}_'
     except select application_name from pg_stat_activity`,
  )
  for (const { run } of rows) await dropDatabases(client, run)
}

async function dropDatabases(client: Client, run: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where starts_with(datname, $1)',
    [`${run}_`],
  )
  for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`)
}
