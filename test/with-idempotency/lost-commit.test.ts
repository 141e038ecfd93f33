import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

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
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

const options = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs: PATIENCE_MS, retryAfterMs: 2_345 }

/** Neither a time-out of ours nor an OncelyError: what the connection was lost by. */
function isLostConnection(failure: unknown): void {
  ok(failure instanceof Error && !isOncelyError(failure), String(failure))
}

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`COMMIT was sent and its answer lost, ${name}`, () => {
    // One connection, through the proxy: a call that spoils it spoils it for the next.
    const connect = (): Kysely<NotesDatabase> =>
      host.connect({ connectionString: proxy.url(), max: 1, manners: hosts[name] })
    const call = (db: Kysely<NotesDatabase>, key: string, given = {}) =>
      createIdempotency(db, { ...options, ...given }).withIdempotency(scope, key, one, writeNote)

    it('C6: before it reached the server: a definite error, and the key is free', async () => {
      const db = connect()
      const key = `before ${name}`
      proxy.meddle('lost before')
      isLostConnection(await failureOf(call(db, key)))
      deepStrictEqual(await host.left(key), nothing)
      deepStrictEqual(await call(db, key), { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })

    it('C6: behind the commit: executed, recovered, and asking again replays', async () => {
      const db = connect()
      const key = `behind ${name}`
      proxy.meddle('lost behind')
      const recovered = { ok: true, kind: 'executed', value: 'note', recovered: true }
      deepStrictEqual(await call(db, key), recovered)
      deepStrictEqual(await call(db, key), { ok: true, kind: 'replayed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })

    it('behind the commit of a rejection: rejected, recovered', async () => {
      const db = connect()
      const refuse = () =>
        createIdempotency(db, options).withIdempotency(scope, `no ${name}`, one, (_, context) =>
          context.reject('no'),
        )
      proxy.meddle('lost behind')
      const refused = { ok: false, kind: 'rejected', refusal: 'no' }
      deepStrictEqual(await refuse(), { ...refused, replayed: false, recovered: true })
      deepStrictEqual(await refuse(), { ...refused, replayed: true })
    })

    for (const [severity, code, closes] of [
      // As PgBouncer does.
      ['FATAL', '08P01', true],
      ['FATAL', '08P01', false],
      ['ERROR', '08006', false],
      ['ERROR', '57P01', false],
      ['PANIC', 'XX000', true],
    ] as const) {
      const goesOn = closes ? 'closes' : 'goes on'
      it(`C6: to a pooler, which says ${severity} ${code} and ${goesOn}: executed, recovered`, async () => {
        const db = connect()
        const key = `${severity} ${code} ${goesOn} ${name}`
        proxy.meddle({ severity, code, closes })
        const result = await call(db, key)
        deepStrictEqual(result, { ok: true, kind: 'executed', value: 'note', recovered: true })
        deepStrictEqual(await host.left(key), written)
      })
    }

    it('before it reached a server that has not noticed: ends the transaction', async () => {
      const db = connect()
      const key = `unnoticed ${name}`
      proxy.meddle('lost before, unnoticed')
      isLostConnection(await failureOf(call(db, key, { resolveTimeoutMs: 4_000 })))
      deepStrictEqual(await call(db, key), { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })

    it('and no server reached in time: unknown, and asking again ends in the truth', async () => {
      const db = connect()
      for (const [fate, kind] of [
        ['lost before', 'executed'],
        ['lost behind', 'replayed'],
      ] as const) {
        const key = `unreached ${fate} ${name}`
        await sql`select 1`.execute(db)
        proxy.meddle(fate)
        proxy.refuse(true)
        const result = await call(db, key, { resolveTimeoutMs: 300 })
        proxy.refuse(false)
        strictEqual(result.kind, 'unknown')
        const { cause, ...rest } = result
        deepStrictEqual(rest, { ok: false, kind: 'unknown', retryAfterMs: 2_345 })
        isLostConnection(cause)
        strictEqual((await call(db, key)).kind, kind)
        deepStrictEqual(await host.left(key), written)
      }
    })

    it('and still in progress: unknown, then in_progress, and in the end the truth', async () => {
      const db = connect()
      const key = `open ${name}`
      await sql`select 1`.execute(db)
      proxy.meddle('lost before, unnoticed')
      proxy.refuse(true)
      strictEqual((await call(db, key, { resolveTimeoutMs: 300 })).kind, 'unknown')
      proxy.refuse(false)
      strictEqual((await call(db, key, { lockTimeoutMs: 1 })).kind, 'in_progress')
      proxy.notice()
      strictEqual((await call(db, key)).kind, 'executed')
      deepStrictEqual(await host.left(key), written)
    })

    it('and the server reached late: recovered', async () => {
      const db = connect()
      const key = `late ${name}`
      await sql`select 1`.execute(db)
      proxy.meddle('lost behind')
      proxy.refuse(true)
      const pending = call(db, key)
      await proxy.untilRefused()
      await proxy.untilRefused()
      proxy.refuse(false)
      const result = await pending
      strictEqual(result.kind === 'executed' && result.recovered, true)
    })
  })
}
