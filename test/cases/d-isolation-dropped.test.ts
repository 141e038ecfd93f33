import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { Kysely } from 'kysely'
import { createIdempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'

import { bareDialect } from '../support/bare-dialect.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe('a driver that drops the isolation level it is asked for', () => {
  for (const [name, wrap] of [
    ['as it is', (dialect: ReturnType<typeof bareDialect>) => dialect],
    ['in oncelyDialect', oncelyDialect],
  ] as const) {
    it(`D11: ${name}: is found out before anything runs, where serializable is the default`, async () => {
      const pool = database.pool({ options: '-c default_transaction_isolation=serializable' })
      const db = new Kysely<NotesDatabase>({ dialect: wrap(bareDialect(pool)) })
      let ran = false
      const call = createIdempotency(db).withIdempotency(scope, name, one, (tx, context) => {
        ran = true
        return writeNote(tx, context)
      })
      await rejects(call, { code: 'isolation_unsupported' })
      strictEqual(ran, false)
      deepStrictEqual(await host.left(name), nothing)
    })
  }
})
