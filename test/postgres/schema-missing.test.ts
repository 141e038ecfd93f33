import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, isOncelyError, type OncelyError } from 'oncely'
import { migrateToLatest } from 'oncely/migrations'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { notesHost, nothing, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const db = host.connect({ max: 1 })

/** Asks oncely for something; the function must not be reached. */
async function oncelyErrorOf(pending: Promise<unknown>): Promise<OncelyError> {
  const failure = await failureOf(pending)
  ok(isOncelyError(failure), String(failure))
  return failure
}

function call(schema: string, key: string, inside: () => void = () => undefined) {
  return createIdempotency(db, { schema }).withIdempotency(scope, key, one, async (tx, context) => {
    inside()
    return writeNote(tx, context)
  })
}

describe('a schema that is not ready', () => {
  it('is missing: schema_missing, and what to run', async () => {
    let runs = 0
    const failures = [
      await oncelyErrorOf(call('not_there', 'missing', () => (runs += 1))),
      await oncelyErrorOf(createIdempotency(db, { schema: 'not_there' }).expire(scope, 'missing')),
    ]
    for (const { code, message, cause } of failures) {
      strictEqual(code, 'schema_missing')
      ok(message.includes('`oncely migrate`') && message.includes("'not_there'"), message)
      strictEqual((cause as { code: string }).code, '42P01')
    }
    strictEqual(runs, 0)
    deepStrictEqual(await host.left('missing'), nothing)
  })

  it('lacks the outbox: schema_missing, once there is an event, and nothing stays', async () => {
    await migrateToLatest(db, { schema: 'no_outbox' })
    await sql`drop table no_outbox.outbox`.execute(db)
    const { code, message } = await oncelyErrorOf(call('no_outbox', 'no outbox'))
    strictEqual(code, 'schema_missing')
    ok(message.includes('`oncely migrate`'), message)
    deepStrictEqual((await host.left('no outbox')).notes, [])
  })

  // A column of the claim, and two of the response.
  for (const column of ['attempt', 'resource_type', 'response']) {
    it(`lacks a column, ${column}: schema_outdated, and what to run`, async () => {
      const schema = `without_${column}`
      await migrateToLatest(db, { schema })
      await sql`alter table ${sql.table(`${schema}.records`)} drop column ${sql.id(column)}`.execute(
        db,
      )
      const { code, message, cause } = await oncelyErrorOf(call(schema, column))
      strictEqual(code, 'schema_outdated')
      ok(message.includes('`oncely migrate`') && message.includes(`'${schema}'`), message)
      strictEqual((cause as { code: string }).code, '42703')
      deepStrictEqual((await host.left(column)).notes, [])
    })
  }

  it('is there and migrated: works', async () => {
    await migrateToLatest(db, { schema: 'Ready "or" not' })
    strictEqual((await call('Ready "or" not', 'ready')).kind, 'executed')
  })
})

describe("the function's own error", () => {
  for (const [sqlState, statement] of [
    ['42P01', sql`select * from not_there`],
    ['42703', sql`select not_there from notes`],
    ['3F000', sql`create table not_there.t ()`],
    ['42883', sql`select not_there()`],
  ] as const) {
    it(`stays its own: ${sqlState}, thrown and swallowed`, async () => {
      const idempotency = createIdempotency(db)
      for (const swallow of [false, true]) {
        let own: unknown
        const failure = await failureOf(
          idempotency.withIdempotency(scope, sqlState, one, async (tx) => {
            own = await failureOf(statement.execute(tx))
            if (!swallow) throw own
          }),
        )
        strictEqual(failure, own)
        deepStrictEqual(
          [isOncelyError(failure), (failure as { code: string }).code],
          [false, sqlState],
        )
      }
      deepStrictEqual(await host.left(sqlState), nothing)
    })
  }
})

describe('a database that cannot be reached', () => {
  const unreachable = {
    'nobody listens': { connectionString: 'postgres://127.0.0.1:1/none' },
    'the database is not there': { database: 'not_there', connectionString: undefined },
    'no connection is free in time': { max: 1, connectionTimeoutMillis: 1_000 },
  }
  for (const [what, config] of Object.entries(unreachable)) {
    it(`${what}: transaction_not_started with the cause, and nothing runs`, async () => {
      const { hostname, port, username, password } = new URL(database.url)
      const parts = { host: hostname, port: Number(port), user: username, password }
      const away = host.connect({ ...parts, ...config })
      let runs = 0
      const ask = async () => {
        const idempotency = createIdempotency(away)
        const error = await oncelyErrorOf(
          idempotency.withIdempotency(scope, what, one, () => (runs += 1)),
        )
        strictEqual(error.code, 'transaction_not_started')
        ok(error.cause instanceof Error)
        ok(error.message.includes(error.cause.message), error.message)
        const expiry = await oncelyErrorOf(idempotency.expire(scope, what))
        strictEqual(expiry.code, 'transaction_not_started')
      }
      await (what.startsWith('no connection') ? away.connection().execute(ask) : ask())
      strictEqual(runs, 0)
      deepStrictEqual(await host.left(what), nothing)
    })
  }
})
