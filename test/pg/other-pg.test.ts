import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'

import { Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { oncelyDialect } from 'oncely/pg'
import pg from 'pg'

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

const require = createRequire(import.meta.url)
/** The same package once more, as where two versions are installed. */
const other = loadAgain()

function loadAgain(): typeof pg {
  for (const file of Object.keys(require.cache)) {
    if (file.includes('/pg/lib/')) Reflect.deleteProperty(require.cache, file)
  }
  return require('pg') as typeof pg
}

for (const pipeline of [false, true]) {
  describe(`a pool of another pg than ours, ${pipeline ? 'pipelining' : 'as usual'}`, () => {
    it(`does all it has to, and ${pipeline ? 'waits for each statement' : 'shares turns'}`, async () => {
      notStrictEqual(other.Query, pg.Query)
      const pool = new other.Pool({ connectionString: database.url, max: 1, pipeline })
      const db = new Kysely<NotesDatabase>({
        dialect: oncelyDialect(new PostgresDialect({ pool })),
      })
      try {
        const call = (key: string) =>
          createIdempotency(db).withIdempotency(scope, key, one, writeNote)
        const key = `other ${pipeline}`
        strictEqual((await call(key)).kind, 'executed')
        strictEqual((await call(key)).kind, 'replayed')
        deepStrictEqual(await host.left(key), written)
        // What shares turns is what is prepared.
        const { rows } = await sql`select name from pg_prepared_statements`.execute(db)
        strictEqual(rows.length > 0, !pipeline)
      } finally {
        await db.destroy()
      }
    })
  })
}
