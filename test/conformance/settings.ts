import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { type Kysely, sql } from 'kysely'

import { failureOf } from '../support/calls.ts'
import { type NotesDatabase, one, other, scope } from '../support/notes-host.ts'
import type { Behaviour } from './host.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** Every setting of a session, so that whatever stays behind is seen. */
async function settingsOf(db: Kysely<NotesDatabase>): Promise<Settings> {
  const { rows } = await sql<{ name: string; value: string }>`
    select name, current_setting(name) as value from pg_settings where name not like '%.%'
  `.execute(db.withoutPlugins())
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

function changed(before: Settings, after: Settings): Settings {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]))
}

/** What the function sees of its transaction, and the next borrower of the connection. */
export const settings = {
  async 'the function is in read committed and read write, whatever the default is'(subject) {
    let seen: Settings = {}
    await subject.idempotency().withIdempotency(scope, subject.key('level'), one, async (tx) => {
      seen = await settingsOf(tx)
    })
    deepStrictEqual(
      [seen['transaction_isolation'], seen['transaction_read_only']],
      ['read committed', 'off'],
    )
  },

  async "the function has the host's own settings, and nothing is left behind"(subject) {
    await subject.db.connection().execute(async (connection) => {
      const own = await settingsOf(connection)
      for (const [name, value] of Object.entries(subject.host.settings ?? {})) {
        strictEqual(own[name], value, name)
      }
      const all: Settings[] = []
      const see = async (tx: Kysely<NotesDatabase>) => {
        all.push(await settingsOf(tx))
      }
      const calls = subject.idempotency({ lockTimeoutMs: 1_234 }, connection)
      const key = subject.key('settings')
      for (const print of [one, one, other]) {
        await calls.withIdempotency(scope, key, print, see)
        deepStrictEqual(changed(own, await settingsOf(connection)), {})
      }
      const refused = calls.withIdempotency(scope, `${key} no`, one, async (tx, context) => {
        await see(tx)
        return context.reject('no')
      })
      strictEqual((await refused).kind, 'rejected')
      deepStrictEqual(changed(own, await settingsOf(connection)), {})
      const failing = calls.withIdempotency(scope, `${key} thrown`, one, async (tx) => {
        await see(tx)
        await sql`select 1 / 0`.execute(tx)
      })
      strictEqual(((await failureOf(failing)) as { code?: unknown }).code, '22012')
      deepStrictEqual(changed(own, await settingsOf(connection)), {})

      strictEqual(all.length, 3)
      // A bound on silence is the library's, unless the host has a shorter one.
      const silence = subject.host.settings?.['idle_in_transaction_session_timeout'] ?? '1min'
      const inside = {
        transaction_isolation: 'read committed',
        transaction_read_only: 'off',
        idle_in_transaction_session_timeout: silence,
      }
      for (const seen of all)
        deepStrictEqual({ ...own, ...changed(own, seen) }, { ...own, ...inside })
    })
  },
} as const satisfies Record<string, Behaviour>
