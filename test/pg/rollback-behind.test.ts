// A replay changes nothing, and its ROLLBACK is written with what comes next on its connection.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'
import { oncelyDialect } from 'oncely/pg'
import { Pool, type PoolClient } from 'pg'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

/** A pool of one, what is written on its connections, and what Kysely's logger is told. */
function watched(
  options: { readonly pipeline?: boolean; readonly connectionString?: string } = {},
) {
  const pool = database.pool({ max: 1, ...options })
  const writes: string[] = []
  const log: string[] = []
  pool.on('connect', (client) => {
    const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
    const write = stream.write.bind(stream)
    stream.write = (bytes) => {
      writes.push(bytes.toString('latin1'))
      return write(bytes)
    }
  })
  const db = new Kysely<NotesDatabase>({
    dialect: oncelyDialect(new PostgresDialect({ pool })),
    log({ query }) {
      log.push(query.sql)
    },
  })
  const call = (key: string) => createIdempotency(db).withIdempotency(scope, key, one, writeNote)
  return { pool, db, call, writes, log }
}

interface Writable {
  write: (bytes: Buffer) => boolean
}

const insert = (on: Pool | PoolClient, key: string) =>
  on.query(`insert into public.notes (key, body) values ($1, 'raw')`, [key])

describe('the ROLLBACK behind a replay', () => {
  it('travels with the next call on the connection', async () => {
    const { call, writes, log } = watched()
    await call('together')
    await call('together')
    writes.length = 0
    log.length = 0
    for (let replays = 0; replays < 3; replays += 1) {
      strictEqual((await call('together')).kind, 'replayed')
    }
    strictEqual(writes.length, 3)
    for (const bytes of writes) match(bytes, /rollback/)
    strictEqual(log.filter((text) => text === 'rollback').length, 3)
  })

  it('is written by itself where nothing comes next, and leaves no transaction', async () => {
    const { call, pool, writes } = watched()
    await call('alone')
    await call('alone')
    // Behind it on the same connection.
    const { rows } = await pool.query('select now() = statement_timestamp() as alone')
    deepStrictEqual(rows, [{ alone: true }])
    strictEqual(writes.filter((bytes) => bytes.includes('rollback')).length, 1)
  })

  it('is in front of what the host sends on the connection by itself', async () => {
    const { call, pool } = watched()
    await call('in front')
    // Whoever waits for the connection gets it at once, and sends at once.
    const replayed = call('in front')
    const inserted = pool.connect().then(async (client) => {
      await insert(client, 'of the host').finally(() => {
        client.release()
      })
    })
    strictEqual((await replayed).kind, 'replayed')
    await inserted
    deepStrictEqual((await host.left('of the host')).notes, ['raw'])
  })

  it('is in front of a statement, and of a transaction, of the host on Kysely', async () => {
    const { call, db } = watched()
    await call('Kysely')
    const note = (key: string) => ({ key, body: 'raw' })
    const results = await Promise.all([
      call('Kysely'),
      db.insertInto('notes').values(note('statement')).execute(),
      call('Kysely'),
      db.transaction().execute((tx) => tx.insertInto('notes').values(note('own')).execute()),
    ])
    deepStrictEqual([results[0].kind, results[2].kind], ['replayed', 'replayed'])
    for (const key of ['statement', 'own']) deepStrictEqual((await host.left(key)).notes, ['raw'])
  })

  it('on a connection that the host holds, is in front of what comes behind the call', async () => {
    const { call, db } = watched()
    await call('held')
    await db.connection().execute(async (held) => {
      const idempotency = createIdempotency(held)
      const again = () => idempotency.withIdempotency(scope, 'held', one, writeNote)
      strictEqual((await again()).kind, 'replayed')
      await held.insertInto('notes').values({ key: 'behind', body: 'raw' }).execute()
      strictEqual((await again()).kind, 'replayed')
      const failing = idempotency.withIdempotency(scope, 'failing', one, async (tx, context) => {
        await writeNote(tx, context)
        throw new Error('own')
      })
      strictEqual(((await failureOf(failing)) as Error).message, 'own')
      await held.insertInto('notes').values({ key: 'last', body: 'raw' }).execute()
    })
    for (const key of ['behind', 'last']) deepStrictEqual((await host.left(key)).notes, ['raw'])
    deepStrictEqual(await host.left('failing'), nothing)
  })

  it('is waited for where the client pipelines, as it would send others in front of it', async () => {
    const { call, writes } = watched({ pipeline: true })
    await call('pipelining')
    await call('pipelining')
    writes.length = 0
    const both = [call('pipelining'), call('pipelining')]
    for (const { kind } of await Promise.all(both)) strictEqual(kind, 'replayed')
    ok(writes.every((bytes) => !/rollback[^]*start transaction/.test(bytes)))
  })

  it('ends with the pool', async () => {
    const pool = new Pool({ connectionString: database.url, max: 1 })
    const db = new Kysely<NotesDatabase>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
    const call = () => createIdempotency(db).withIdempotency(scope, 'pool', one, writeNote)
    await call()
    strictEqual((await call()).kind, 'replayed')
    await db.destroy()
  })

  for (const fate of ['lost before', 'fails'] as const) {
    it(`takes its connection with it where it ${fate}, and the next call is told so`, async () => {
      const { call, pool } = watched({ connectionString: proxy.url() })
      pool.on('error', () => undefined)
      await call(fate)
      proxy.meddle(fate, 'rollback')
      strictEqual((await call(fate)).kind, 'replayed')
      const failure = await failureOf(call(`next ${fate}`))
      strictEqual(isOncelyError(failure) && failure.code, 'transaction_not_started')
      strictEqual((await call(`next ${fate}`)).ok, true)
      deepStrictEqual(await host.left(`next ${fate}`), written)
    })
  }
})
