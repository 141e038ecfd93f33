import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'
import { migrateToLatest } from 'oncely/migrations'
import { DatabaseError } from 'pg'

import type { DB } from '../../codegen/db.ts'
import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  notesHost,
  nothing,
  one,
  other,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { hosts } from '../support/hosts.ts'
import { claimedRow } from '../support/record-rows.ts'

const database = testDatabase()
const host = notesHost(database)
const first = createIdempotency(host.connect({ application_name: 'first' }))

/** PostgreSQL's own error, not wrapped. */
async function databaseErrorOf(call: Promise<unknown>): Promise<DatabaseError> {
  const error = await failureOf(call)
  ok(error instanceof DatabaseError, String(error))
  strictEqual(isOncelyError(error), false)
  return error
}

describe('what fails at the claim is thrown as it is and leaves nothing', () => {
  it('statement_timeout, 57014', async () => {
    using hold = gate()
    const holder = beside(first.withIdempotency(scope, 'slow', one, hold.pass))
    await stopsAt(hold, holder)
    const hurried = createIdempotency(host.connect({ statement_timeout: 500 }), {
      lockTimeoutMs: PATIENCE_MS,
    })
    const failure = await databaseErrorOf(hurried.withIdempotency(scope, 'slow', one, () => 1))
    strictEqual(failure.code, '57014')
    deepStrictEqual(await host.left('slow'), nothing)
    hold.open()
    await holder
    strictEqual((await hurried.withIdempotency(scope, 'slow', one, () => 1)).kind, 'replayed')
  })

  it('a deadlock, 40P01', async () => {
    using hold = gate()
    // Only the claim looks for a deadlock soon, and it is the last one to begin to wait.
    const caller = host.connect({
      manners: hosts.plain,
      options: '-c deadlock_timeout=10ms',
      log: async ({ query }) => {
        if (query.sql.startsWith('insert into "idem"."records"')) await hold.pass()
      },
    })
    const rival = database.connect({
      options: '-c deadlock_timeout=1h',
      application_name: 'rival',
    })
    const patient = createIdempotency(caller, { lockTimeoutMs: PATIENCE_MS })
    const call = () => patient.withIdempotency(scope, 'deadlock', one, writeNote)
    const purge = (db: Kysely<DB>) =>
      db.deleteFrom('records').where('key', '=', 'deadlock').execute()

    await first.withIdempotency(scope, 'deadlock', one, () => 1)
    const claim = beside(databaseErrorOf(call()))
    await stopsAt(hold, claim)
    // The claim is lost, and its transaction keeps a lock on the table while the record goes.
    await purge(rival)
    const failure = await rival.transaction().execute(async (tx) => {
      await tx
        .insertInto('records')
        .values({ ...claimedRow('deadlock'), ...scope })
        .execute()
      const table = beside(sql`lock table idem.records in share mode`.execute(tx))
      await host.untilWaiting('rival')
      hold.open()
      const failure = await claim
      await table
      await purge(tx)
      return failure
    })
    strictEqual(failure.code, '40P01')
    deepStrictEqual(await host.left('deadlock'), nothing)
    strictEqual((await call()).kind, 'executed')
  })

  it("C3: a unique index of the host's own on our table, which is not a lost claim", async () => {
    const db = host.connect()
    await migrateToLatest(db, { schema: 'indexed' })
    await sql`create unique index one_a_fingerprint on indexed.records (fingerprint)`.execute(db)
    const indexed = createIdempotency(db, { schema: 'indexed' })
    await indexed.withIdempotency(scope, 'k1', one, () => 1)
    const failure = await databaseErrorOf(indexed.withIdempotency(scope, 'k2', one, writeNote))
    deepStrictEqual([failure.code, failure.constraint], ['23505', 'one_a_fingerprint'])
    deepStrictEqual(await host.left('k2'), nothing)
    strictEqual((await indexed.withIdempotency(scope, 'k2', other, writeNote)).kind, 'executed')
  })
})

describe("a unique violation inside the function is the function's error", () => {
  it('C3: and says nothing of the key', async () => {
    const call = (bodies: string[]) =>
      first.withIdempotency(scope, 'twice', one, async (tx, context) => {
        for (const body of bodies) await writeNote(tx, context, body)
      })
    const failure = await databaseErrorOf(call(['note', 'note']))
    deepStrictEqual([failure.code, failure.constraint], ['23505', 'notes_pkey'])
    deepStrictEqual(await host.left('twice'), nothing)
    strictEqual((await call(['note'])).kind, 'executed')
    deepStrictEqual(await host.left('twice'), written)
  })
})
