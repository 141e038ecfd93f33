import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency, type Idempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'
import type { PoolConfig } from 'pg'

import { beside, failureOf } from '../support/calls.ts'
import { bareDialect } from '../support/bare-dialect.ts'
import { type ConnectOptions, testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
const admin = host.connect()

const connect = (options: ConnectOptions = {}) =>
  host.connect({
    connectionString: proxy.url(),
    max: 1,
    manners: { wrap: oncelyDialect },
    ...options,
  })

/** Whether two statements, one behind the other, find themselves in one transaction. */
const inTransaction = (db: Kysely<NotesDatabase>) =>
  db.connection().execute(async (connection) => {
    const started = sql<{ at: string }>`select transaction_timestamp()::text as at`
    const [first, second] = [await started.execute(connection), await started.execute(connection)]
    return first.rows[0]?.at === second.rows[0]?.at
  })

const pidOf = async (db: Kysely<NotesDatabase>) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid

/** Waits until no session of that application runs anything. */
async function untilIdle(applicationName: string): Promise<void> {
  const active = sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where application_name = ${applicationName} and state = 'active'`
  while ((await active.execute(admin)).rows[0]?.count !== 0) await new Promise(setImmediate)
}

describe("a transaction of the host's own", () => {
  it('C7: fails with its first error, whatever becomes of the rollback', async () => {
    const own = new Error('own')
    const transaction = connect()
      .transaction()
      .execute(() => {
        proxy.cut()
        throw own
      })
    strictEqual(await failureOf(transaction), own)
  })

  it("C7: fails with COMMIT's own error, whatever becomes of the rollback", async () => {
    proxy.meddle({ severity: 'FATAL', code: '57P01', closes: true })
    const transaction = connect()
      .transaction()
      .execute((tx) => sql`select 1`.execute(tx))
    await rejects(transaction, { code: '57P01' })
  })

  it('C5: that swallowed an error fails, as COMMIT is answered by ROLLBACK', async () => {
    const transaction = connect()
      .transaction()
      .execute(async (tx) => {
        await sql`select 1 / 0`.execute(tx).catch(() => undefined)
      })
    await rejects(transaction, { name: 'AbortedTransactionError' })
  })

  it('D5: and a controlled one: neither a failed BEGIN nor a failed ROLLBACK starves the pool', async () => {
    const db = connect()
    for (let time = 0; time < 3; time += 1) {
      proxy.meddle({ severity: 'ERROR', code: '57014', closes: false }, 'begin')
      await rejects(db.startTransaction().execute(), { code: '57014' })
      const trx = await db.startTransaction().execute()
      proxy.cut()
      await trx.rollback().execute()
      strictEqual(trx.isRolledBack, true)
    }
    strictEqual(typeof (await pidOf(db)), 'number')
  })
})

describe("COMMIT's own error is known as such", () => {
  const asked: string[] = []
  const log = (event: { query: { sql: string } }) => {
    if (/pg_xact_status/.test(event.query.sql)) asked.push(event.query.sql)
  }
  const callWith = (key: string, then = '') =>
    createIdempotency(connect({ log: log as never }), {
      resolveTimeoutMs: PATIENCE_MS,
    }).withIdempotency(scope, key, one, async (tx, context) => {
      await writeNote(tx, context)
      if (then) await sql.raw(then).execute(tx)
      return 'note'
    })

  it('and thrown without a look-up, whatever its SQLSTATE', async () => {
    await sql`
      create table refusals (code text);
      create function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = new.code; end $$;
      create constraint trigger refuse after insert on refusals
        deferrable initially deferred for each row execute function refuse()`.execute(admin)
    for (const code of ['57014', '22012', '53100', '55P03', '23505', '40001', 'ZZ001']) {
      await rejects(callWith(code, `insert into refusals values ('${code}')`), { code })
      deepStrictEqual(await host.left(code), nothing)
    }
    deepStrictEqual(asked, [])
  })

  it('and looked up when the ROLLBACK behind it is not answered', async () => {
    asked.length = 0
    proxy.meddle({ severity: 'ERROR', code: '23505', closes: false })
    proxy.meddle('lost before', 'rollback')
    const result = await callWith('no rollback')
    strictEqual(result.kind === 'executed' && result.recovered, true)
    strictEqual(asked.length > 0, true)
    deepStrictEqual(await host.left('no rollback'), written)
  })
})

describe('of several transactions on one connection', () => {
  it("a ROLLBACK of an earlier one is not the answer behind a later one's COMMIT", async () => {
    const result = await connect()
      .connection()
      .execute(async (connection) => {
        await failureOf(connection.transaction().execute(() => Promise.reject(new Error('own'))))
        proxy.meddle({ severity: 'ERROR', code: '23505', closes: false })
        proxy.meddle('lost before', 'rollback')
        return createIdempotency(connection, { resolveTimeoutMs: 300 }).withIdempotency(
          scope,
          'second',
          one,
          writeNote,
        )
      })
    strictEqual(result.kind, 'unknown')
    deepStrictEqual(await host.left('second'), written)
  })
})

describe('a tainted connection is not used again', () => {
  const transaction = (db: Kysely<NotesDatabase>) =>
    db.transaction().execute((tx) => sql`select 1`.execute(tx))

  it('D4: whose BEGIN failed', async () => {
    const db = connect()
    const first = await pidOf(db)
    proxy.meddle({ severity: 'ERROR', code: '57014', closes: false }, 'begin')
    await rejects(transaction(db), { code: '57014' })
    notStrictEqual(await pidOf(db), first)
  })

  it('D3, D4: whose BEGIN timed out in the client, and is under way at the server', async () => {
    const db = connect({ query_timeout: 300 })
    proxy.meddle('stalled behind', 'begin')
    await rejects(transaction(db), { message: 'Query read timeout' })
    await transaction(db)
  })

  it('D3, D4: whose ROLLBACK timed out in the client', async () => {
    const db = connect({ query_timeout: 300 })
    const own = new Error('own')
    proxy.meddle('stalled before', 'rollback')
    const failing = db.transaction().execute(() => Promise.reject(own))
    strictEqual(await failureOf(failing), own)
    await transaction(db)
    proxy.cut()
  })

  it('and of others one is kept', async () => {
    const db = connect()
    const first = await pidOf(db)
    await transaction(db)
    await failureOf(db.transaction().execute((tx) => sql`select 1 / 0`.execute(tx)))
    strictEqual(await pidOf(db), first)
  })
})

describe('behind a transaction that could not begin, on a connection that is held', () => {
  it('another is rolled back, and not committed by the next one', async () => {
    const db = host.connect({
      connectionString: proxy.url(),
      max: 1,
      manners: { wrap: oncelyDialect },
    })
    const note = (tx: Kysely<NotesDatabase>, key: string) =>
      tx.insertInto('notes').values({ key, body: 'note' }).execute()
    await db.connection().execute(async (held) => {
      proxy.meddle('fails', 'begin')
      await rejects(
        held.transaction().execute(() => Promise.resolve()),
        { code: '22012' },
      )
      const own = new Error('own')
      const undone = held.transaction().execute(async (tx) => {
        await note(tx, 'undone')
        throw own
      })
      strictEqual(await failureOf(undone), own)
      await held.transaction().execute((tx) => note(tx, 'kept'))
    })
    deepStrictEqual((await host.left('undone')).notes, [])
    deepStrictEqual((await host.left('kept')).notes, ['note'])
  })
})

describe('a BEGIN that is never answered', () => {
  const kinds = {
    'a call': (of: Idempotency<NotesDatabase>, key: string, signal: AbortSignal) =>
      of.withIdempotency(scope, key, one, writeNote, { signal }),
    'a look-up': (of: Idempotency<NotesDatabase>, key: string, signal: AbortSignal) =>
      of.lookup(scope, key, one, { signal }),
  }
  for (const name of ['oncelyDialect', 'pipelining'] as const) {
    for (const [kind, call] of Object.entries(kinds)) {
      it(`keeps no place in the pool: of ${kind}, ${name}`, { timeout: 20_000 }, async () => {
        const db = host.connect({ connectionString: proxy.url(), max: 1, manners: hosts[name] })
        const idempotency = createIdempotency(db, { resolveTimeoutMs: 100 })
        const key = `${kind} ${name}`
        const stalled = proxy.untilMeddled()
        proxy.meddle('stalled before', 'start transaction')
        const giveUp = new AbortController()
        const pending = beside<unknown>(call(idempotency, key, giveUp.signal))
        await stalled
        giveUp.abort()
        await rejects(pending, { code: 'aborted' })
        const next = await idempotency.withIdempotency(scope, key, one, writeNote)
        strictEqual(next.kind, 'executed')
        proxy.cut()
      })
    }
  }
})

describe('whatever else the host does is passed through', () => {
  const db = host.connect({ max: 2, application_name: 'other', manners: { wrap: oncelyDialect } })

  it('introspection, savepoints and the bound of one transaction', async () => {
    const tables = await db.introspection.getTables()
    ok(tables.some(({ name }) => name === 'notes'))
    const trx = await db.startTransaction().setIsolationLevel('serializable').execute()
    const point = await trx.savepoint('here').execute()
    await failureOf(sql`select 1 / 0`.execute(point))
    const back = await point.rollbackToSavepoint('here').execute()
    const show = sql<{ level: string }>`select current_setting('transaction_isolation') as level`
    deepStrictEqual((await show.execute(back)).rows, [{ level: 'serializable' }])
    await (await back.releaseSavepoint('here').execute()).commit().execute()
  })

  it('a query that an AbortSignal cancels at the server', async () => {
    const abort = new AbortController()
    const reason = new Error('enough')
    await admin.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(1)`.execute(tx)
      const query = beside(
        db.executeQuery(sql`select pg_advisory_lock_shared(1)`.compile(db), {
          signal: abort.signal,
          inflightQueryAbortStrategy: 'cancel query',
        }),
      )
      await host.untilWaiting('other')
      abort.abort(reason)
      strictEqual(await failureOf(query), reason)
      await untilIdle('other')
    })
  })

  it('a dialect that is wrapped already is not wrapped again', () => {
    const wrapped = oncelyDialect(new PostgresDialect({ pool: database.pool() }))
    strictEqual(oncelyDialect(wrapped), wrapped)
  })
})

describe('around a driver that discards nothing by itself', () => {
  const pooled = (options: PoolConfig = {}) =>
    database.pool({ connectionString: proxy.url(), max: 1, ...options })
  const bare = (pool = pooled()) =>
    new Kysely<NotesDatabase>({ dialect: oncelyDialect(bareDialect(pool)) })

  it('a call executes and replays', async () => {
    const idempotency = createIdempotency(bare())
    const call = () => idempotency.withIdempotency(scope, 'bare', one, writeNote)
    deepStrictEqual([(await call()).kind, (await call()).kind], ['executed', 'replayed'])
  })

  it('a lost commit is recovered, and what COMMIT failed with thrown', async () => {
    const idempotency = createIdempotency(bare(), { resolveTimeoutMs: PATIENCE_MS })
    proxy.meddle('lost behind')
    const result = await idempotency.withIdempotency(scope, 'bare lost', one, writeNote)
    strictEqual(result.kind === 'executed' && result.recovered, true)
  })

  it('a connection whose BEGIN failed is given back out of any transaction', async () => {
    const db = bare()
    proxy.meddle({ severity: 'ERROR', code: '57014', closes: false }, 'begin')
    await rejects(
      db.transaction().execute(() => Promise.resolve()),
      { code: '57014' },
    )
    strictEqual(await inTransaction(db), false)
  })

  it('one that has stalled is not given back, and nobody waits for it', async () => {
    const pool = pooled({ max: 2 })
    const db = bare(pool)
    const idempotency = createIdempotency(db, { resolveTimeoutMs: 500 })
    proxy.meddle('stalled behind')
    const result = await idempotency.withIdempotency(scope, 'bare stalled', one, writeNote)
    strictEqual(result.kind === 'executed' && result.recovered, true)
    strictEqual(await inTransaction(db), false)
    deepStrictEqual([pool.totalCount, pool.idleCount], [2, 1])
    proxy.cut()
    while (pool.idleCount < pool.totalCount) await new Promise(setImmediate)
  })
})
