import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { migrateToLatest } from 'oncely/migrations'
import { oncelyDialect, type OncelyDialectOptions } from 'oncely/pg'

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

const connect = (options: OncelyDialectOptions = {}, pool: object = {}) =>
  host.connect({
    manners: { wrap: (dialect: Dialect) => oncelyDialect(dialect, options) },
    ...pool,
  })

interface Prepared {
  readonly parsedStatements: object
}

/** What is prepared under a name on the one connection of a pool. */
async function preparedOn(db: Kysely<never>): Promise<string[]> {
  const { rows } = await sql<{ name: string; text: string }>`
    select name, statement as text from pg_prepared_statements order by statement`.execute(db)
  return rows.map(({ name, text }) => `${name.slice(0, 7)} ${text.slice(0, 11)}`)
}

const all = [
  'oncely_ commit',
  'oncely_ insert into',
  'oncely_ savepoint o',
  'oncely_ select "res',
  'oncely_ start trans',
  'oncely_ with "store',
]

/** A first call, and its replay. */
async function callTwice(db: ReturnType<typeof connect>, key: string): Promise<void> {
  const idempotency = createIdempotency(db)
  strictEqual((await idempotency.withIdempotency(scope, key, one, writeNote)).kind, 'executed')
  strictEqual((await idempotency.withIdempotency(scope, key, one, writeNote)).kind, 'replayed')
  deepStrictEqual(await host.left(key), written)
}

for (const pipeline of [false, true]) {
  describe(`prepared statements, ${pipeline ? 'pipelining' : 'a turn each'}`, () => {
    it('are there once a connection, for the statements of a call, by default', async () => {
      const db = connect({}, { max: 1, pipeline })
      for (const key of ['a', 'b']) await callTwice(db, `${key} ${pipeline}`)
      deepStrictEqual(await preparedOn(db as never), all)
    })

    it('are none with prepare: false', async () => {
      const db = connect({ prepare: false }, { max: 1, pipeline })
      await callTwice(db, `unprepared ${pipeline}`)
      deepStrictEqual(await preparedOn(db as never), [])
    })

    it('are given up where they are gone from the session, before anything has happened', async () => {
      const db = connect({}, { max: 1, pipeline })
      await callTwice(db, `known ${pipeline}`)
      await sql`discard all`.execute(db)
      await callTwice(db, `gone ${pipeline}`)
      deepStrictEqual(await preparedOn(db as never), [])
    })

    it('are given up where the session knows the name already, as behind a pooler', async () => {
      const named = connect({}, { max: 1, pipeline })
      await callTwice(named, `named ${pipeline}`)
      const { rows } = await sql<{ name: string; statement: string }>`
        select name, statement from pg_prepared_statements where parameter_types <> '{}'`.execute(
        named,
      )
      const db = connect({}, { max: 1, pipeline })
      for (const { name, statement } of rows) {
        await sql.raw(`prepare ${name} as ${statement}`).execute(db)
      }
      await callTwice(db, `known elsewhere ${pipeline}`)
    })

    it('are given up where the session knows the name of BEGIN already', async () => {
      const named = connect({}, { max: 1, pipeline })
      await callTwice(named, `begun ${pipeline}`)
      const { rows } = await sql<{ name: string; text: string }>`
        select name, statement as text from pg_prepared_statements
        where statement like 'start transaction%'`.execute(named)
      const pool = database.pool({ max: 1, pipeline })
      const client = await pool.connect()
      for (const { name, text } of rows) {
        await client.query({ name, text })
        await client.query('rollback')
        // As if another client had prepared it, behind a pooler.
        const { parsedStatements } = (client as unknown as { connection: Prepared }).connection
        Reflect.deleteProperty(parsedStatements, name)
      }
      client.release()
      const db = new Kysely<NotesDatabase>({
        dialect: oncelyDialect(new PostgresDialect({ pool })),
      })
      await callTwice(db, `begun elsewhere ${pipeline}`)
      strictEqual(rows.length, 1)
    })

    it('are given up by all the calls that find them gone at once', async () => {
      const keys = [1, 2, 3, 4].map((number) => `at once ${number} ${pipeline}`)
      const db = connect({}, { max: keys.length, pipeline })
      const onEach = (run: (key: string) => Promise<unknown>) => Promise.all(keys.map(run))
      const call = (key: string) =>
        createIdempotency(db).withIdempotency(scope, key, one, writeNote)
      await onEach(call)
      await onEach(() => sql`discard all`.execute(db))
      await onEach(async (key) => {
        strictEqual((await call(`${key}, gone`)).kind, 'executed')
      })
    })

    it('that lack COMMIT alone are given up by the call that finds it out', async () => {
      const db = connect({}, { max: 1, pipeline })
      await callTwice(db, `committed ${pipeline}`)
      const { rows } = await sql<{ name: string }>`
        select name from pg_prepared_statements where statement = 'commit'`.execute(db)
      for (const { name } of rows) await sql`deallocate ${sql.id(name)}`.execute(db)
      const key = `uncommitted ${pipeline}`
      await rejects(createIdempotency(db).withIdempotency(scope, key, one, writeNote), {
        code: '26000',
      })
      await callTwice(db, key)
      strictEqual(rows.length, 1)
    })

    it('that are lost while the function runs fail the call, and the next one goes on', async () => {
      const db = connect({}, { max: 1, pipeline })
      await callTwice(db, `warm ${pipeline}`)
      const key = `lost inside ${pipeline}`
      const call = createIdempotency(db).withIdempotency(scope, key, one, async (tx, context) => {
        await sql`deallocate all`.execute(tx)
        return writeNote(tx, context)
      })
      await rejects(call, { code: '26000' })
      await callTwice(db, key)
    })
  })
}

describe('a client', () => {
  it('that takes texts alone, as Kysely asks of one, is given texts', async () => {
    const pool = database.pool({ max: 1 })
    const connect = async () => {
      const client = await pool.connect()
      return {
        query: (text: string, values: unknown[]) => client.query(`/* of a host */ ${text}`, values),
        release: () => {
          client.release()
        },
      }
    }
    const dialect = new PostgresDialect({
      pool: { options: {}, connect, end: () => Promise.resolve() } as never,
    })
    await callTwice(new Kysely({ dialect: oncelyDialect(dialect) }), 'texts alone')
  })
})

describe('a statement that was prepared before the type of a column changed', () => {
  it('is prepared no more, and no call fails of it', async () => {
    await migrateToLatest(database.watcher, { schema: 'changing' })
    const db = connect({}, { max: 1, pipeline: true })
    const idempotency = createIdempotency(db, { schema: 'changing' })
    const call = async (key: string) =>
      (await idempotency.withIdempotency(scope, key, one, () => 1)).kind
    deepStrictEqual([await call('a'), await call('a')], ['executed', 'replayed'])
    await sql`alter table changing.records alter column resource_id type varchar`.execute(
      database.watcher,
    )
    deepStrictEqual([await call('b'), await call('a')], ['executed', 'replayed'])
  })
})

describe('a prepared statement', () => {
  it('is a text to whoever logs it', async () => {
    const logged: string[] = []
    const log = ({ query }: { readonly query: { readonly sql: string } }) => {
      logged.push(`${typeof query.sql} ${query.sql.slice(0, 6)}`)
    }
    const db = host.connect({ manners: { wrap: oncelyDialect }, log: log as never })
    await createIdempotency(db).withIdempotency(scope, 'logged', one, writeNote)
    deepStrictEqual(logged.slice(1, 2), ['string insert'])
  })
})
