import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { Pool } from 'pg'

import { migrateToLatest } from '../../src/migrations.ts'
import { beside, failureOf } from '../support/calls.ts'
import { one, PATIENCE_MS, scope } from '../support/notes-host.ts'
import { startOwnServer } from '../support/own-server.ts'
import { wireProxy } from '../support/wire-proxy.ts'

// So that nothing reaches the disk but what is committed.
const server = await startOwnServer({ wal_writer_delay: '10s' })
const proxy = wireProxy(server.url)
const pools: Pool[] = []

function connect(url: string, max = 1): Kysely<unknown> {
  const pool = new Pool({ connectionString: url, max })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  pools.push(pool)
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

const admin = connect(server.url, 2)

before(async () => {
  await migrateToLatest(admin)
  await sql`create table notes (body text)`.execute(admin)
})
after(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await server.stop()
})

const currentXid = sql<{ xid: string }>`select pg_current_xact_id()::text as xid`
const xidOn = async (db: Kysely<unknown>) => (await currentXid.execute(db)).rows[0]?.xid

function call(
  db: Kysely<unknown>,
  key: string,
  resolveTimeoutMs = PATIENCE_MS,
  tell: (xid: string | undefined) => void = () => undefined,
) {
  const idempotency = createIdempotency(db, { resolveTimeoutMs })
  return idempotency.withIdempotency(scope, key, one, async (tx) => {
    await sql`insert into notes values (${key})`.execute(tx)
    tell(await xidOn(tx))
    return 'noted'
  })
}

/** A call whose commit is lost, and looked up when something has become of the server. */
async function lost(
  key: string,
  fate: 'lost before, unnoticed' | 'lost behind',
  meanwhile: (xid: string | undefined) => Promise<unknown>,
  resolveTimeoutMs?: number,
) {
  const db = connect(proxy.url())
  let xid: string | undefined
  await sql`select 1`.execute(db)
  proxy.meddle(fate)
  proxy.refuse(true)
  const pending = call(db, key, resolveTimeoutMs, (told) => (xid = told))
  try {
    await Promise.race([proxy.untilRefused(), beside(pending)])
    await meanwhile(xid)
  } finally {
    proxy.refuse(false)
  }
  return pending
}

async function crash(): Promise<void> {
  await server.crash()
  await server.startAgain()
}

const notesOf = async (key: string) =>
  (await sql`select 1 from notes where body = ${key}`.execute(admin)).rows.length

const recovered = { ok: true, kind: 'executed', value: 'noted', recovered: true }

describe('the server has crashed before COMMIT arrived', () => {
  /** Until the id is somebody else's, which it is at once unless others wrote in between. */
  async function crashed(key: string, other: (xid: string | undefined) => Promise<unknown>) {
    const failure = await failureOf(
      lost(key, 'lost before, unnoticed', async (xid) => {
        await crash()
        await other(xid)
      }),
    )
    ok(failure instanceof Error)
    strictEqual(await notesOf(key), 0)
    deepStrictEqual((await call(connect(server.url), key)).kind, 'executed')
  }

  it('C6: and its id was given to nobody: not executed', async () => {
    await crashed('unused id', async (xid) => {
      const status = sql`select pg_xact_status(${xid}::xid8)`.execute(admin)
      strictEqual(((await failureOf(status)) as { code: string }).code, '22023')
    })
  })

  it('C6: and its id is that of a transaction that has committed: not taken for ours', async () => {
    await crashed('committed id', async (xid) => {
      strictEqual(await xidOn(admin), xid)
    })
  })

  it('C6: and its id is that of a transaction under way: not taken for ours, and not ended', async () => {
    const end = Promise.withResolvers<undefined>()
    let others: Promise<unknown> | undefined
    await crashed('open id', async (xid) => {
      const begun = Promise.withResolvers<string | undefined>()
      others = beside(
        admin.transaction().execute(async (tx) => {
          begun.resolve(await xidOn(tx))
          await end.promise
          await sql`select 1`.execute(tx)
        }),
      )
      strictEqual(await begun.promise, xid)
    }).finally(() => {
      end.resolve(undefined)
    })
    await others
  })
})

describe('the answer to COMMIT was lost, and the server', () => {
  it('C6: has crashed behind the commit: executed, recovered', async () => {
    deepStrictEqual(await lost('crashed behind', 'lost behind', crash), recovered)
  })

  it('was restarted behind the commit: executed, recovered', async () => {
    const result = await lost('restarted behind', 'lost behind', async () => {
      await server.shutDown()
      await server.startAgain()
    })
    deepStrictEqual(result, recovered)
  })

  it('was restarted before COMMIT arrived: not executed', async () => {
    const failure = await failureOf(
      lost('restarted before', 'lost before, unnoticed', async () => {
        await server.shutDown()
        await server.startAgain()
      }),
    )
    ok(failure instanceof Error)
    strictEqual(await notesOf('restarted before'), 0)
  })

  it('does not know the id any more, which is too old: the record decides', async () => {
    const result = await lost('too old', 'lost behind', async (xid) => {
      await freezeEverything()
      await server.shutDown()
      await server.startAgain()
      const { rows } = await sql`select pg_xact_status(${xid}::xid8) as status`.execute(admin)
      deepStrictEqual(rows, [{ status: null }])
    })
    deepStrictEqual(result, recovered)
  })

  it('is a standby now: not believed, unknown; and once promoted, the truth', async () => {
    const result = await lost(
      'standby',
      'lost behind',
      async () => {
        await server.shutDown()
        await server.startAgain('standby')
        const { rows } = await sql`select pg_is_in_recovery() as standby`.execute(admin)
        deepStrictEqual(rows, [{ standby: true }])
      },
      500,
    )
    strictEqual(result.kind, 'unknown')
    await sql`select pg_promote()`.execute(admin)
    const db = connect(proxy.url())
    deepStrictEqual(await call(db, 'standby'), {
      ok: true,
      kind: 'replayed',
      value: 'noted',
    })
  })

  it('does not come back in time: unknown; and once back, the truth', async () => {
    const result = await lost('gone', 'lost before, unnoticed', () => server.shutDown(), 500)
    strictEqual(result.kind, 'unknown')
    await server.startAgain()
    strictEqual((await call(connect(proxy.url()), 'gone')).kind, 'executed')
    strictEqual(await notesOf('gone'), 1)
  })
})

describe('COMMIT waits for a synchronous standby that is not there', () => {
  const standbys = async (names: string) => {
    await sql`alter system set synchronous_standby_names = ${sql.lit(names)}`.execute(admin)
    await sql`select pg_reload_conf()`.execute(admin)
  }

  it('C16: unknown, and not ended, as it would be seen before it is safe; then the truth', async () => {
    const db = connect(server.url, 2)
    await sql`set synchronous_commit = off`.execute(admin)
    await standbys('absent')
    const result = await call(db, 'waiting', 500)
    strictEqual(result.kind, 'unknown')
    const waits = sql<{ wait: string }>`
      select wait_event as wait from pg_stat_activity where wait_event = 'SyncRep'`
    deepStrictEqual((await waits.execute(admin)).rows, [{ wait: 'SyncRep' }])
    await standbys('')
    strictEqual((await call(db, 'waiting')).kind, 'replayed')
  })
})

/** So that no database needs an older id, the template among them that nobody may connect to. */
async function freezeEverything(): Promise<void> {
  await sql`alter database template0 allow_connections true`.execute(admin)
  for (const name of ['postgres', 'template1', 'template0']) {
    const url = Object.assign(new URL(server.url), { pathname: name }).href
    await xidOn(admin)
    await sql`vacuum (freeze)`.execute(connect(url))
  }
  await sql`checkpoint`.execute(admin)
}
