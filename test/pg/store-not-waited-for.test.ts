import { deepStrictEqual, notDeepStrictEqual, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'

import { type Kysely, type LogEvent, sql, type Transaction } from 'kysely'
import { type CallContext, createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
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

type Fn = (tx: Transaction<NotesDatabase>, context: CallContext) => Promise<unknown>

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
const admin = host.connect()

/** As the statement that stores begins. */
const STORE = 'with "stored"'

/** Look-ups of what has become of a COMMIT. */
const lookUps: string[] = []
const log = ({ query }: LogEvent) => {
  if (query.sql.includes('pg_xact_status')) lookUps.push(query.sql)
}

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

afterEach(async () => {
  await new Promise(setImmediate)
  deepStrictEqual(unhandled.splice(0), [])
})

/** One connection, through the proxy. */
const connect = () =>
  host.connect({ connectionString: proxy.url(), max: 1, manners: hosts.pipelining, log })

const call = (db: Kysely<NotesDatabase>, key: string, fn: Fn = writeNote) =>
  createIdempotency(db, { resolveTimeoutMs: PATIENCE_MS }).withIdempotency(scope, key, one, fn)

const pidOf = async (db: Kysely<NotesDatabase>) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid

/** Fails by that, keeps nothing, looks nothing up, and leaves the connection as good as it was. */
async function isRefused(key: string, fn: Fn): Promise<unknown> {
  const db = connect()
  const pid = await pidOf(db)
  const failure = await failureOf(call(db, key, fn))
  deepStrictEqual(await host.left(key), nothing)
  deepStrictEqual(lookUps.splice(0), [])
  strictEqual(await pidOf(db), pid)
  strictEqual((await call(db, key)).kind, 'executed')
  deepStrictEqual(await host.left(key), written)
  return failure
}

const codeOf = (failure: unknown) => (failure as { readonly code?: unknown }).code

describe('a store that hits no row', () => {
  const again = "select 1; rollback; begin; insert into notes values ('again', 'note')"
  for (const returned of ['a value', 'a refusal'] as const) {
    it(`since the function began another transaction and returns ${returned}: commits nothing`, async () => {
      const failure = await isRefused(`again, ${returned}`, async (tx, context) => {
        await writeNote(tx, context)
        // Of its first words nobody can tell that it ends the transaction.
        await sql.raw(again).execute(tx)
        return returned === 'a value' ? 'note' : context.reject('no')
      })
      strictEqual(isOncelyError(failure) && failure.code, 'claim_lost', String(failure))
      deepStrictEqual(await host.left('again'), nothing)
    })
  }
})

describe('a store that the server refuses: its own error, and COMMIT commits nothing', () => {
  it('by a trigger on the events', async () => {
    await sql`
      create function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = 'ZZ001'; end $$;
      create trigger refuse before insert on idem.outbox for each row
        when (new.type = 'refused') execute function refuse()`.execute(admin)
    const failure = await isRefused('outbox', async (tx, context) => {
      context.emit({ type: 'refused', aggregateType: 'note', aggregateId: 'x', payload: 1 })
      return writeNote(tx, context)
    })
    strictEqual(codeOf(failure), 'ZZ001', String(failure))
  })

  it('by a CHECK on the records', async () => {
    await sql`alter table idem.records add constraint no_secrets
      check (convert_from(response, 'UTF8') not like '%secret%')`.execute(admin)
    const failure = await isRefused('check', async (tx, context) => {
      await writeNote(tx, context)
      return 'a secret'
    })
    deepStrictEqual(
      [codeOf(failure), (failure as { readonly constraint?: unknown }).constraint],
      ['23514', 'no_secrets'],
    )
  })
})

describe("a COMMIT that travels behind the store and is refused by a constraint of the host's", () => {
  it('fails with its error, and is not looked up', async () => {
    await sql`
      create function refuse_note() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = 'ZZ002'; end $$;
      create constraint trigger refuse_note after insert on notes deferrable initially deferred
        for each row when (new.body = 'refused') execute function refuse_note()`.execute(admin)
    const failure = await isRefused('deferred', (tx, context) => writeNote(tx, context, 'refused'))
    strictEqual(codeOf(failure), 'ZZ002', String(failure))
  })
})

describe('a store whose connection is lost', () => {
  for (const statement of [STORE, 'commit']) {
    it(`before ${statement} reached the server: an error, and nothing is there`, async () => {
      const db = connect()
      const key = `before ${statement}`
      proxy.meddle('lost before', statement)
      const failure = await failureOf(call(db, key))
      strictEqual(isOncelyError(failure), false, String(failure))
      notDeepStrictEqual(lookUps.splice(0), [])
      deepStrictEqual(await host.left(key), nothing)
      deepStrictEqual(await call(db, key), { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })

    it(`behind ${statement}: recovered or an error, and what is there is as it was told`, async () => {
      const db = connect()
      const key = `behind ${statement}`
      proxy.meddle('lost behind', statement)
      const told = await call(db, key).catch(() => undefined)
      notDeepStrictEqual(lookUps.splice(0), [])
      const recovered = { ok: true, kind: 'executed', value: 'note', recovered: true }
      if (told) deepStrictEqual(told, recovered)
      deepStrictEqual(await host.left(key), told ? written : nothing)
      strictEqual((await call(db, key)).kind, told ? 'replayed' : 'executed')
      deepStrictEqual(await host.left(key), written)
    })
  }

  it('stalled behind the store, with COMMIT on its way: recovered in time', async () => {
    const db = connect()
    proxy.meddle('stalled behind', STORE)
    const quick = createIdempotency(db, { resolveTimeoutMs: 500 })
    const first = await quick.withIdempotency(scope, 'stalled', one, writeNote)
    lookUps.splice(0)
    deepStrictEqual(first, { ok: true, kind: 'executed', value: 'note', recovered: true })
    deepStrictEqual(await host.left('stalled'), written)
  })
})
