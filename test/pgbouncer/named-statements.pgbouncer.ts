import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'
import type { Pool } from 'pg'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, one, scope, writeNote, written } from '../support/notes-host.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { cannotTrackStatements } from '../support/pgbouncer-server.ts'
import { openBackends, through } from './clients.ts'

const database = testDatabase()
const host = notesHost(database)
const single = pgBouncer(database.url, { poolSize: 1 })
const double = pgBouncer(database.url, { poolSize: 2 })
/** On whose server connections nothing is prepared yet. */
const fresh = pgBouncer(database.url, { poolSize: 2 })

const named = { name: 'a name', text: 'select pg_backend_pid() as pid' }

async function backendBy(pool: Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>(named)
  return rows[0]?.pid
}

const codeOf = async (call: Promise<unknown>) => ((await failureOf(call)) as { code: string }).code

// What the library would see if it did not give its names up.
describe('a named statement through transaction mode', { timeout: 60_000 }, () => {
  it('C13: is missing (26000) as soon as the client comes to another backend', async () => {
    await openBackends(double, database, 2)
    const client = database.pool({ connectionString: double.url(), max: 1 })
    await backendBy(client)
    strictEqual(await codeOf(backendBy(client)), '26000')
  })

  it('C13: is there already (42P05) when another client has prepared it on the backend', async () => {
    const clients = [1, 2].map(() => database.pool({ connectionString: single.url(), max: 1 }))
    const [one, two] = clients as [Pool, Pool]
    await backendBy(one)
    strictEqual(await codeOf(backendBy(two)), '42P05')
  })
})

describe('the names of the library through transaction mode', { timeout: 60_000 }, () => {
  for (const name of ['oncelyDialect', 'pipelining'] as const) {
    it(`C13: are given up before anything has happened: no call fails, none runs twice, ${name}`, async () => {
      await openBackends(double, database, 2)
      let runs = 0
      const keys: string[] = []
      // Each of these begins by preparing, on server connections that know some of it already.
      for (let client = 0; client < 15; client += 1) {
        const db = through(double, host, { manners: hosts[name], max: 4 })
        const idempotency = createIdempotency(db)
        const calls = Array.from({ length: 8 }, async (_, call) => {
          const key = `${name} ${client} ${call}`
          keys.push(key)
          const fn: typeof writeNote = (tx, context) => {
            runs += 1
            return writeNote(tx, context)
          }
          const first = await idempotency.withIdempotency(scope, key, one, fn)
          const second = await idempotency.withIdempotency(scope, key, one, fn)
          return `${first.kind} ${second.kind}`
        })
        deepStrictEqual(new Set(await Promise.all(calls)), new Set(['executed replayed']))
      }
      strictEqual(runs, keys.length)
      for (const key of keys) deepStrictEqual(await host.left(key), written)
    })
  }
})

/** Runs something while of two server connections only this one, or the other, can be had. */
async function onBackend(which: 0 | 1, pids: readonly number[], run: () => Promise<unknown>) {
  const pool = database.pool({ connectionString: fresh.url(), max: 2 })
  const clients = await Promise.all([pool.connect(), pool.connect()])
  const found = new Map<number | undefined, (typeof clients)[number]>()
  await Promise.all(clients.map((client) => client.query('begin')))
  for (const client of clients) {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    found.set(rows[0]?.pid, client)
  }
  await found.get(pids[which])?.query('commit')
  try {
    await run()
  } finally {
    await found.get(pids[1 - which])?.query('commit')
    for (const client of clients) client.release()
  }
}

describe(
  'a claim whose name another client has prepared where it comes to',
  { timeout: 60_000 },
  () => {
    it('C13: is known, and the response is stored by no name, which is not', async () => {
      const pids = await openBackends(fresh, database, 2)
      const connect = () => through(fresh, host, { manners: hosts.oncelyDialect, max: 1 })
      const [one_, two] = [createIdempotency(connect()), createIdempotency(connect())]
      const call = async (by: typeof two, key: string, kind: string) => {
        strictEqual((await by.withIdempotency(scope, key, one, writeNote)).kind, kind)
      }
      await createIdempotency(host.connect()).withIdempotency(scope, 'there', one, writeNote)
      // Prepares a claim and no store.
      await onBackend(1, pids, () => call(two, 'there', 'replayed'))
      await onBackend(0, pids, () => call(one_, 'on the one', 'executed'))
      await onBackend(1, pids, () => call(one_, 'on the other', 'executed'))
      deepStrictEqual(await host.left('on the other'), written)
    })
  },
)

describe('a call that has joined a transaction', { timeout: 60_000 }, () => {
  it('C13: prepares nothing, and a call of its own behind it executes', async () => {
    const pids = await openBackends(fresh, database, 2)
    const db = through(fresh, host, { manners: hosts.oncelyDialect, max: 1 })
    const idempotency = createIdempotency(db)
    const joined = (key: string) =>
      db.transaction().execute(async (tx) => {
        const call = idempotency.withTransaction(tx).withIdempotency(scope, key, one, writeNote)
        strictEqual((await call).kind, 'applied')
      })
    for (const [at, key] of ['j0', 'j1', 'j2', 'j3'].entries()) {
      await onBackend((at % 2) as 0 | 1, pids, () => joined(key))
    }
    await onBackend(1, pids, async () => {
      strictEqual(
        (await idempotency.withIdempotency(scope, 'own', one, writeNote)).kind,
        'executed',
      )
    })
    for (const key of ['j0', 'j1', 'j2', 'j3', 'own'])
      deepStrictEqual(await host.left(key), written)
  })

  it('C13: and neither a look-up nor a read that comes first fails a call behind it', async () => {
    const pids = await openBackends(fresh, database, 2)
    for (const name of ['oncelyDialect', 'pipelining'] as const) {
      const db = through(fresh, host, { manners: hosts[name], max: 1 })
      const idempotency = createIdempotency(db)
      const reading = idempotency.withOptions({ readFirst: true })
      for (const at of [0, 1, 0, 1] as const) {
        await onBackend(at, pids, async () => {
          strictEqual((await idempotency.lookup(scope, `none ${name}`, one)).kind, 'absent')
        })
        await onBackend(at === 0 ? 1 : 0, pids, async () => {
          const call = reading.withIdempotency(scope, `${name} ${Math.random()}`, one, writeNote)
          strictEqual((await call).kind, 'executed')
        })
      }
    }
  })
})

const skip = cannotTrackStatements()
const tracking = skip
  ? undefined
  : pgBouncer(database.url, { poolSize: 2, maxPreparedStatements: 100 })

describe('a named statement that the pooler tracks', { timeout: 60_000, skip }, () => {
  it('C13: follows the client to another backend', async () => {
    if (!tracking) return
    await openBackends(tracking, database, 2)
    const client = database.pool({ connectionString: tracking.url(), max: 1 })
    notStrictEqual(await backendBy(client), await backendBy(client))
  })
})
