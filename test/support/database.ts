import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { after, before } from 'node:test'

import { type Dialect, Kysely, type KyselyConfig, PostgresDialect } from 'kysely'
import { Client, Pool, type PoolConfig } from 'pg'

import type { DB } from '../../codegen/db.ts'
import { hosts } from './hosts.ts'
import { createDatabase, templateOf, urlOf } from './test-run.ts'

/** What a test wants of its connections; anything of pg's pool, and of Kysely but the dialect. */
export interface ConnectOptions extends Omit<PoolConfig, 'log'>, Omit<KyselyConfig, 'dialect'> {
  /** `null` for a host whose tables are not in our schema. */
  readonly schema?: string | null
  /** What the host does with its pool and its dialect. */
  readonly manners?: Manners
}

/** How a host may treat its pool and its dialect; nothing at all is a plain host. */
export interface Manners {
  readonly guard?: (pool: Pool) => Pool
  readonly wrap?: (dialect: Dialect) => Dialect
  /** Whether its clients send a statement before the one in front is answered. */
  readonly pipeline?: boolean
}

/** A migrated database of a test file's own. */
export interface TestDatabase {
  readonly url: string
  /** A pool with a Kysely on it. Both are closed, and checked for leaks, behind the last test. */
  connect<Tables = DB>(options?: ConnectOptions): Kysely<Tables>
  /** A pool by itself, likewise. */
  pool(options?: PoolConfig): Pool
  /** Outside of what is tested: looks into the tables and at the server. */
  readonly watcher: Kysely<DB>
}

/** To be called once at the top of a test file: gives it a clone of the migrated template. */
export function testDatabase(): TestDatabase {
  const { ONCELY_TEST_SERVER: server, ONCELY_TEST_RUN: run } = process.env
  if (!server || !run) throw new Error('run the tests by `npm test`, or one: `npm test -- FILE`')
  const name = `${run}_${randomBytes(4).toString('hex')}`
  const url = urlOf(server, name)
  const pools: Pool[] = []

  const pool = (options: PoolConfig = {}): Pool => {
    const made = new Pool({ connectionString: url, ...options })
    // Tests cut connections; what is tested has to notice by itself.
    made.on('error', () => undefined)
    made.on('connect', (client) => client.on('error', () => undefined))
    pools.push(made)
    return made
  }

  const connect = <Tables = DB>(options: ConnectOptions = {}): Kysely<Tables> => {
    const { schema = 'idem', plugins, log, manners = usual, ...poolOptions } = options
    const { guard = same, wrap = same, pipeline = false } = manners
    const dialect = wrap(
      new PostgresDialect({ pool: guard(pool({ ...(pipeline && { pipeline }), ...poolOptions })) }),
    )
    const db = new Kysely<Tables>({ dialect, ...(plugins && { plugins }), ...(log && { log }) })
    return schema === null ? db : db.withSchema(schema)
  }

  const watcher = connect({ max: 2, application_name: 'watcher' })

  before(() => onServer(server, createDatabase(name, templateOf(run))))
  after(async () => {
    try {
      await checkLeaks(pools, watcher)
    } finally {
      await Promise.all(pools.map((open) => open.end()))
      await onServer(server, `drop database ${name} with (force)`)
    }
  })
  return { url, connect, pool, watcher }
}

/** `npm run test:pipelining` runs tests once more on a host whose clients pipeline. */
const usual: Manners = process.env['ONCELY_TEST_HOST'] === 'pipelining' ? hosts.pipelining : {}

const same = <T>(given: T): T => given

/** A connection not given back, a transaction left open, a claim without an outcome. */
async function checkLeaks(pools: readonly Pool[], watcher: Kysely<DB>): Promise<void> {
  for (const pool of pools) {
    // Behind a replay the rollback is not waited for.
    const unheard = AbortSignal.timeout(5_000)
    while (pool.totalCount > pool.idleCount && !unheard.aborted) {
      await once(pool, 'release', { signal: unheard }).catch(() => undefined)
    }
    strictEqual(pool.totalCount - pool.idleCount, 0, 'a connection was not given back to its pool')
    strictEqual(pool.waitingCount, 0, 'somebody still waits for a connection')
  }
  // It is written once the event loop has come round, and then has to arrive.
  const unheard = AbortSignal.timeout(5_000)
  let open = await openTransactions(watcher)
  while (open.length > 0 && !unheard.aborted) open = await openTransactions(watcher)
  deepStrictEqual(open, [], 'a transaction was left open')
  const claimed = await watcher
    .selectFrom('records')
    .selectAll()
    .where('state', '=', 'claimed')
    .execute()
  deepStrictEqual(claimed, [], 'a claim was committed without an outcome')
}

function openTransactions(watcher: Kysely<DB>) {
  return watcher
    .withoutPlugins()
    .$extendTables<{ pg_stat_activity: { datname: string; state: string; query: string } }>()
    .selectFrom('pg_stat_activity')
    .select(['state', 'query'])
    .where((eb) => eb('datname', '=', eb.fn<string>('current_database')))
    .where('state', 'like', 'idle in transaction%')
    .execute()
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
