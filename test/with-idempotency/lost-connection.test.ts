import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
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

/** One connection, through the proxy: a call that spoils it spoils it for the next. */
function connect(): Kysely<NotesDatabase> {
  return host.connect({ connectionString: proxy.url(), max: 1 })
}

const options = { lockTimeoutMs: PATIENCE_MS }

function call(db: Kysely<NotesDatabase>, key: string) {
  return createIdempotency(db, options).withIdempotency(scope, key, one, writeNote)
}

describe('the connection is lost in another moment', () => {
  for (const fate of ['lost before', 'lost behind'] as const) {
    it(`before BEGIN was answered: transaction_not_started, and asking again executes (${fate})`, async () => {
      const db = connect()
      let runs = 0
      proxy.meddle(fate, 'start transaction')
      const failing = createIdempotency(db, options).withIdempotency(scope, fate, one, () => {
        runs += 1
      })
      await rejects(failing, { code: 'transaction_not_started' })
      strictEqual(runs, 0)
      deepStrictEqual(await host.left(fate), nothing)
      deepStrictEqual(await call(db, fate), { ok: true, kind: 'executed', value: 'note' })
    })
  }

  it('while the function runs: an error, definite, and asking again executes', async () => {
    const db = connect()
    const failure = await failureOf(
      createIdempotency(db, options).withIdempotency(scope, 'inside', one, async (tx, context) => {
        await writeNote(tx, context)
        proxy.cut()
        await sql`select 1`.execute(tx)
      }),
    )
    strictEqual(failure instanceof Error && !isOncelyError(failure), true)
    deepStrictEqual(await call(db, 'inside'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('inside'), written)
  })

  it('C7: and the function throws: its own error, whatever becomes of the rollback', async () => {
    const db = connect()
    const own = new Error('own')
    const failure = await failureOf(
      createIdempotency(db, options).withIdempotency(scope, 'own', one, async (tx, context) => {
        await writeNote(tx, context)
        proxy.cut()
        throw own
      }),
    )
    strictEqual(failure, own)
    deepStrictEqual(await call(db, 'own'), { ok: true, kind: 'executed', value: 'note' })
  })

  it('and the function returns: an error, as nothing could be stored', async () => {
    const db = connect()
    const failure = await failureOf(
      createIdempotency(db, options).withIdempotency(scope, 'returns', one, async (tx, context) => {
        await writeNote(tx, context)
        proxy.cut()
      }),
    )
    strictEqual(failure instanceof Error, true)
    deepStrictEqual(await host.left('returns'), nothing)
    deepStrictEqual(await call(db, 'returns'), { ok: true, kind: 'executed', value: 'note' })
  })
})
