import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { createIdempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'
import { types } from 'pg'

import { Batch } from '../../src/postgres/batch.ts'
import { loadNodePostgres } from '../../src/postgres/node-postgres.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

/** What a batch is given by a client that sends nothing. */
const connection = () => ({
  stream: { writable: true, write: () => true },
  parsedStatements: {},
  submittedNamedStatements: {},
})

describe('statements that are sent as one', () => {
  it('have succeeded only where each is answered, whatever the client is told behind it', async () => {
    const driver = await loadNodePostgres()
    ok(driver)
    const batch = new Batch(driver)
    const answers = ['select 1', 'commit'].map((text) => batch.add(CompiledQuery.raw(text), false))
    const settled = Promise.allSettled(answers)
    batch.submit(connection())
    batch.handleCommandComplete({ text: 'SELECT 0' })
    batch.handleReadyForQuery()
    deepStrictEqual(
      (await settled).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
  })

  it('fail where what the host reads a type with throws, and the connection goes on', async () => {
    const { BYTEA } = types.builtins
    const usual = types.getTypeParser(BYTEA) as (text: string) => unknown
    const pool = database.pool({ max: 1 })
    const db = new Kysely<NotesDatabase>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
    const call = () => createIdempotency(db).withIdempotency(scope, 'unread', one, writeNote)
    strictEqual((await call()).kind, 'executed')
    types.setTypeParser(BYTEA, () => {
      throw new Error('not for me')
    })
    try {
      await rejects(call(), { message: 'not for me' })
    } finally {
      types.setTypeParser(BYTEA, usual)
    }
    strictEqual((await call()).kind, 'replayed')
    deepStrictEqual(await host.left('unread'), written)
  })
})
