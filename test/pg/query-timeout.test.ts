import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, one, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe("a claim that waits for a twin and meets the pool's query_timeout", () => {
  for (const name of ['oncelyDialect', 'pipelining'] as const) {
    it(`${name}: is told with BEGIN, beside which it travels, and asking again replays`, async () => {
      using held = gate()
      const key = `held ${name}`
      const first = beside(
        createIdempotency(host.connect()).withIdempotency(scope, key, one, async (tx, context) => {
          await held.pass()
          return writeNote(tx, context)
        }),
      )
      await stopsAt(held, first)
      const db = host.connect({ max: 1, query_timeout: 1_000, manners: hosts[name] })
      const idempotency = createIdempotency(db, { lockTimeoutMs: 60_000 })
      const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
      const failure = await failureOf(call())
      strictEqual(isOncelyError(failure) && failure.code, 'transaction_not_started')
      strictEqual(((failure as Error).cause as Error).message, 'Query read timeout')
      held.open()
      strictEqual((await first).kind, 'executed')
      strictEqual((await call()).kind, 'replayed')
      deepStrictEqual(await host.left(key), written)
    })
  }
})
