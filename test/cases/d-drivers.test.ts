import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import type { Pool } from 'pg'

import { beside, failureOf } from '../support/calls.ts'
import { type Manners, testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { hostNames, hosts } from '../support/hosts.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const host = notesHost(testDatabase())

for (const name of hostNames) {
  describe(`functions that take a second connection of the same pool, ${name}`, () => {
    it('D7: fail with what the pool says, in the time that it is given, and the pool goes on', async () => {
      const keys = ['1', '2', '3', '4', '5'].map((n) => `${name} ${n}`)
      let pool: Pool | undefined
      const { guard = (given: Pool) => given, wrap }: Manners = hosts[name]
      const manners = { guard: (made: Pool) => (pool = guard(made)), ...(wrap && { wrap }) }
      const db = host.connect({ max: keys.length, manners })
      // Connecting takes its time, which is not what is bounded here.
      await Promise.all(keys.map(() => sql`select 1`.execute(db)))
      strictEqual(pool?.totalCount, keys.length)
      pool.options.connectionTimeoutMillis = 300
      const idempotency = createIdempotency(db)
      using hold = gate()
      using end = gate()
      let inside = 0
      const seen: unknown[] = []
      const calls = keys.map((key) =>
        beside(
          idempotency.withIdempotency(scope, key, one, async (tx, context) => {
            await writeNote(tx, context)
            // Only now is every connection taken.
            if ((inside += 1) === keys.length) hold.open()
            await hold.pass()
            const second = db.insertInto('notes').values({ key, body: 'by another' }).execute()
            const error = await failureOf(second)
            // Who ends before the others gives them the connection that they wait for.
            if (seen.push(error) === keys.length) end.open()
            await end.pass()
            throw error
          }),
        ),
      )
      const failures = await Promise.all(calls.map((call) => failureOf(call)))
      ok(failures.every((failure) => seen.includes(failure)))
      strictEqual(new Set(failures).size, keys.length)
      for (const key of keys) {
        deepStrictEqual(await host.left(key), nothing)
        strictEqual(
          (await idempotency.withIdempotency(scope, key, one, writeNote)).kind,
          'executed',
        )
        deepStrictEqual(await host.left(key), written)
      }
    })
  })

  describe(`what the function sees of the transaction, ${name}`, () => {
    const show = async (db: Kysely<NotesDatabase>) => {
      const { rows } = await sql<{ isolation: string; readOnly: string }>`
        select current_setting('transaction_isolation') as isolation,
          current_setting('transaction_read_only') as "readOnly"`.execute(db)
      return rows[0]
    }

    for (const level of ['read uncommitted', 'repeatable read', 'serializable']) {
      it(`D11: read committed and read write, where ${level} and read only is the default`, async () => {
        const options = [
          `-c default_transaction_isolation=${level.replace(' ', String.raw`\ `)}`,
          '-c default_transaction_read_only=on',
        ].join(' ')
        const db = host.connect({ options, max: 1, manners: hosts[name] })
        const idempotency = createIdempotency(db)
        const call = () => idempotency.withIdempotency(scope, `${level} ${name}`, one, show)
        deepStrictEqual(await show(db), { isolation: level, readOnly: 'on' })
        const seen = { isolation: 'read committed', readOnly: 'off' }
        deepStrictEqual(await call(), { ok: true, kind: 'executed', value: seen })
        deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: seen })
        // The host's own transactions keep their default.
        deepStrictEqual(await show(db), { isolation: level, readOnly: 'on' })
      })
    }
  })
}
