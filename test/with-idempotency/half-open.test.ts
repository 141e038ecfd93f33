// The link to the server dies without a word while a call is under way, before COMMIT.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'

import { sql } from 'kysely'
import { type CallOptions, createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import {
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

// A plain host keeps a stalled connection until the link breaks.
afterEach(() => {
  proxy.cut()
})

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`a statement is never answered, and the link does not break, ${name}`, () => {
    /** Ends a call whose link has gone, by the option that is given for it. */
    async function givenUp(key: string, given: CallOptions, giveUp: () => void, code: string) {
      const db = host.connect({ connectionString: proxy.url(), max: 1, manners: hosts[name] })
      // A deadline is not to come before the call has come so far.
      await sql`select 1`.execute(db)
      proxy.meddle('stalled before', 'insert into "notes"')
      const stalled = proxy.untilMeddled()
      const call = beside(createIdempotency(db).withIdempotency(scope, key, one, writeNote, given))
      await Promise.race([stalled, call])
      giveUp()
      await rejects(call, { code })
      const twin = (lockTimeoutMs: number) =>
        createIdempotency(host.connect(), { lockTimeoutMs }).withIdempotency(
          scope,
          key,
          one,
          writeNote,
        )
      strictEqual((await twin(1)).kind, 'in_progress')
      deepStrictEqual(await host.left(key), nothing)
      // What the server would do by itself once the client has been silent for too long.
      proxy.cut()
      strictEqual((await twin(PATIENCE_MS)).kind, 'executed')
      deepStrictEqual(await host.left(key), written)
    }

    it('deadlineMs ends the call; in_progress until the server notices, and then it executes', () =>
      givenUp(`deadline ${name}`, { deadlineMs: 1_000 }, () => undefined, 'deadline_exceeded'))

    it('its signal ends the call; in_progress until the server notices, and then it executes', () => {
      const controller = new AbortController()
      const abort = () => {
        controller.abort()
      }
      return givenUp(`signal ${name}`, { signal: controller.signal }, abort, 'aborted')
    })
  })
}
