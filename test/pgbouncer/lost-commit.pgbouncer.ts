// The pooler loses its server connection at COMMIT, and speaks to the caller for a server that it
// cannot ask any more.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import {
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { through } from './clients.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`COMMIT, and the pooler loses its server, ${name}`, { timeout: 60_000 }, () => {
    const pooler = pgBouncer(proxy.url, { poolSize: 2 })
    const connect = (resolveTimeoutMs = PATIENCE_MS) => {
      const db = through(pooler, host, { max: 1, manners: hosts[name] })
      return createIdempotency(db, { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs })
    }

    it(`C13: behind the commit: executed, recovered, and asking again replays (${name})`, async () => {
      const key = `behind ${name}`
      const idempotency = connect()
      const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
      proxy.meddle('lost behind')
      const recovered = { ok: true, kind: 'executed', value: 'note', recovered: true }
      deepStrictEqual(await call(), recovered)
      deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })

    it(`C13: behind the commit of a rejection: rejected, recovered (${name})`, async () => {
      const key = `rejected ${name}`
      const idempotency = connect()
      const call = () =>
        idempotency.withIdempotency(scope, key, one, async (tx, context) => {
          await writeNote(tx, context)
          return context.reject('no')
        })
      proxy.meddle('lost behind')
      const rejected = { ok: false, kind: 'rejected', refusal: 'no' }
      deepStrictEqual(await call(), { ...rejected, replayed: false, recovered: true })
      deepStrictEqual(await call(), { ...rejected, replayed: true })
      deepStrictEqual(await host.left(key), { ...nothing, records: ['rejected'] })
    })

    for (const [fate, resolveTimeoutMs] of [
      ['lost before', PATIENCE_MS],
      // The server holds the transaction open until the call ends it, after half of that time.
      ['lost before, unnoticed', 2_000],
    ] as const) {
      it(`C13: ${fate} the commit: the definite error, and the key is free (${name})`, async () => {
        const key = `${fate} ${name}`
        const idempotency = connect(resolveTimeoutMs)
        const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
        proxy.meddle(fate)
        const failure = await failureOf(call())
        ok(failure instanceof Error && !isOncelyError(failure), String(failure))
        // On a plain host Kysely's own ROLLBACK behind it fails too, and takes its place.
        if (name === 'oncelyDialect') {
          const { code, severity } = failure as { code?: unknown; severity?: unknown }
          deepStrictEqual([code, severity], ['08P01', 'FATAL'])
        }
        deepStrictEqual(await host.left(key), nothing)
        strictEqual((await call()).kind, 'executed')
        strictEqual((await call()).kind, 'replayed')
        deepStrictEqual(await host.left(key), written)
      })
    }
  })
}
