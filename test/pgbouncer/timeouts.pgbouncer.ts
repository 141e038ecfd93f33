import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, isOncelyError, type Idempotency } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  other,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { through } from './clients.ts'

const parameters = [
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
] as const
const options = Object.fromEntries(parameters.map((name) => [name, PATIENCE_MS]))

const database = testDatabase()
const host = notesHost(database)
// One server connection, so that the next borrower gets the one that is looked at.
const refusing = pgBouncer(database.url, { poolSize: 1 })
const ignoring = pgBouncer(database.url, { poolSize: 1, ignoreStartupParameters: parameters })

/** Every setting of a server connection, and which one it is. */
async function settingsOf(db: Kysely<NotesDatabase>): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; value: string }>`
    select name, current_setting(name) as value from pg_settings where name not like '%.%'
    union all select 'backend', pg_backend_pid()::text`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

const timeoutsOf = async (db: Kysely<NotesDatabase>) => {
  const settings = await settingsOf(db)
  return parameters.map((name) => settings[name])
}

describe('time-outs among the options of a pool', { timeout: 60_000 }, () => {
  for (const name of parameters) {
    it(`C12: ${name} is refused as a start-up parameter where it is not ignored`, async () => {
      const db = through(refusing, host, { [name]: PATIENCE_MS })
      const call = createIdempotency(db).withIdempotency(scope, `refused ${name}`, one, writeNote)
      const error = await failureOf(call)
      strictEqual(isOncelyError(error) && error.code, 'transaction_not_started')
      const { code, message } = (error as Error).cause as { code: string; message: string }
      strictEqual(code, '08P01')
      match(message, new RegExp(`unsupported startup parameter.*\\b${name}\\b`))
    })
  }

  it('C12: have no effect where they are ignored, and nobody says so', async () => {
    const direct = host.connect({ max: 1, ...options })
    deepStrictEqual(await timeoutsOf(direct), ['20s', '20s', '20s'])
    deepStrictEqual(await timeoutsOf(through(ignoring, host, options)), ['0', '0', '0'])
  })
})

for (const [how, pooler, given] of [
  ['refused', refusing, {}],
  ['ignored', ignoring, options],
] as const) {
  describe(`the library's own bounds where options are ${how}`, { timeout: 60_000 }, () => {
    const connect = () => createIdempotency(through(pooler, host, given), { lockTimeoutMs: 1 })

    it(`C12: a twin behind an open transaction is in_progress (${how})`, async () => {
      const key = `in_progress ${how}`
      using hold = gate()
      const direct = createIdempotency(host.connect())
      const holder = beside(
        direct.withIdempotency(scope, key, one, async (tx, context) => {
          await hold.pass()
          return writeNote(tx, context)
        }),
      )
      await stopsAt(hold, holder)
      const twin = connect()
      const result = await twin.withIdempotency(scope, key, one, writeNote)
      deepStrictEqual(result, {
        ok: false,
        kind: 'in_progress',
        retryAfterMs: 1_000,
        sqlState: '55P03',
      })
      hold.open()
      await holder
      strictEqual((await twin.withIdempotency(scope, key, one, writeNote)).kind, 'replayed')
      deepStrictEqual(await host.left(key), written)
    })

    it(`C12: a client that falls silent loses the key to a waiting twin (${how})`, async () => {
      const key = `silent ${how}`
      using hold = gate()
      // Longer than any machine is silent between two statements, and no longer.
      const silent = connect().withOptions({ idleInTransactionTimeoutMs: 500 })
      const call = silent.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        await hold.pass()
      })
      await stopsAt(hold, beside(call))
      const patient = createIdempotency(host.connect(), { lockTimeoutMs: PATIENCE_MS })
      strictEqual((await patient.withIdempotency(scope, key, one, writeNote)).kind, 'executed')
      hold.open()
      await failureOf(call)
      deepStrictEqual(await host.left(key), written)
    })

    it(`C12: nothing is left to the next borrower of the server connection (${how})`, async () => {
      const borrower = through(pooler, host, { ...given, max: 1 })
      const own = await settingsOf(borrower)
      for (const [name, end] of Object.entries(endings)) {
        await end(connect(), `left behind: ${name} ${how}`)
        deepStrictEqual(await settingsOf(borrower), own, `left behind: ${name}`)
      }
    })
  })
}

type End = (idempotency: Idempotency<NotesDatabase>, key: string) => Promise<unknown>

const endings: Record<string, End> = {
  async 'executed, replayed, conflict'(idempotency, key) {
    for (const print of [one, one, other]) {
      await idempotency.withIdempotency(scope, key, print, async (tx) => {
        deepStrictEqual(await timeoutsOf(tx), ['0', '0', '1min'])
      })
    }
  },
  rejected: (idempotency, key) =>
    idempotency.withIdempotency(scope, key, one, (_, context) => context.reject('no')),
  thrown: (idempotency, key) =>
    failureOf(idempotency.withIdempotency(scope, key, one, () => Promise.reject(new Error('no')))),
  async in_progress(idempotency, key) {
    using hold = gate()
    const holder = beside(
      createIdempotency(host.connect()).withIdempotency(scope, key, one, hold.pass),
    )
    await stopsAt(hold, holder)
    const { kind } = await idempotency.withIdempotency(scope, key, one, () => 1)
    strictEqual(kind, 'in_progress')
    hold.open()
    await holder
  },
}
