import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
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

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

afterEach(async () => {
  await new Promise(setImmediate)
  deepStrictEqual(unhandled.splice(0), [])
})

/** One connection, through the proxy. */
const connect = () =>
  host.connect({ connectionString: proxy.url(), max: 1, manners: hosts.pipelining })

/** The server refuses it, and runs what travels behind it by itself. */
const failNextBegin = () => {
  proxy.meddle('fails', 'start transaction')
}

const pidOf = async (db: Kysely<NotesDatabase>) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid

/** Fails for that reason, and the connection is not used again. */
async function isNotStarted(db: Kysely<NotesDatabase>, call: () => Promise<unknown>) {
  const pid = await pidOf(db)
  const failure = await failureOf(call())
  const { code, cause } = failure as { readonly code?: unknown; readonly cause?: unknown }
  strictEqual(isOncelyError(failure) && code, 'transaction_not_started', String(failure))
  strictEqual((cause as { readonly code?: unknown }).code, '22012', String(cause))
  notStrictEqual(await pidOf(db), pid)
}

const quota = { limit: 5, windowMs: 60_000 }
const kinds = {
  'of a call': (db: Kysely<NotesDatabase>) => createIdempotency(db),
  'of a call with `authorize`': (db: Kysely<NotesDatabase>) =>
    createIdempotency(db).withOptions({ authorize: () => Promise.resolve(true) }),
  'of a call with `replay`': (db: Kysely<NotesDatabase>) =>
    createIdempotency(db).withOptions({ replay: () => Promise.resolve('note') }),
  'of a call with a quota': (db: Kysely<NotesDatabase>) =>
    createIdempotency(db).withOptions({ quota }),
}

describe('a BEGIN that fails and is not waited for', () => {
  for (const [name, made] of Object.entries(kinds)) {
    it(`${name}: nothing behind it is committed, and the key is free`, async () => {
      const db = connect()
      const idempotency = made(db)
      let runs = 0
      const call = () =>
        idempotency.withIdempotency(scope, name, one, (tx, context) => {
          runs += 1
          return writeNote(tx, context)
        })
      failNextBegin()
      await isNotStarted(db, call)
      deepStrictEqual([await host.left(name), runs], [nothing, 0])
      deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual([await host.left(name), runs], [written, 1])
    })

    it(`${name} that has a record: that is not answered, and stays as it is`, async () => {
      const db = connect()
      const idempotency = made(db)
      const key = `${name}, recorded`
      const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
      strictEqual((await call()).kind, 'executed')
      failNextBegin()
      await isNotStarted(db, call)
      deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })
  }
})

describe("a BEGIN that fails in front of a statement of the host's", () => {
  it('is waited for, so that a resolver writes nothing', async () => {
    const db = connect()
    let resolved = 0
    const idempotency = createIdempotency(db).withOptions({
      businessIdentity: {
        constraint: 'notes_pkey',
        async resolve(tx) {
          resolved += 1
          await tx.insertInto('notes').values({ key: 'resolver', body: 'undone' }).execute()
          return { disposition: 'conflict' }
        },
      },
    })
    const call = (key: string) =>
      idempotency.withIdempotency(scope, key, one, (tx, context) => {
        if (key !== 'first') failNextBegin()
        return writeNote(tx, { ...context, key: 'shared' })
      })
    strictEqual((await call('first')).kind, 'executed')
    await isNotStarted(db, () => call('second'))
    deepStrictEqual([await host.left('resolver'), resolved], [nothing, 0])
    deepStrictEqual(await host.left('second'), nothing)
  })

  it('is waited for by a sweep, which clears nothing', async () => {
    const db = connect()
    const idempotency = createIdempotency(db, { replayWindowMs: 1 })
    const call = () => idempotency.withIdempotency(scope, 'swept', one, writeNote)
    strictEqual((await call()).kind, 'executed')
    while ((await call()).kind !== 'expired');
    failNextBegin()
    await failureOf(idempotency.sweep())
    deepStrictEqual(await host.left('swept'), written)
  })
})
