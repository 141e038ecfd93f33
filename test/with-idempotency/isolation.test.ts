import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
// Start-up options go before the role's.
const admin = host.connect({ max: 1, options: '-c default_transaction_read_only=off' })

const defaults: [setting: string, value: string][] = [
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_isolation', 'repeatable read'],
  ['default_transaction_read_only', 'on'],
  ['default_transaction_deferrable', 'on'],
]

/** Makes it the role's default in this file's database, for connections made from then on. */
async function withRoleDefault(setting: string, value: string, run: () => Promise<void>) {
  const name = sql.id(setting)
  const here = sql.id(new URL(database.url).pathname.slice(1))
  const role = sql`alter role current_user in database ${here}`
  await sql`${role} set ${name} = ${sql.lit(value)}`.execute(admin)
  try {
    await run()
  } finally {
    await sql`${role} reset ${name}`.execute(admin)
  }
}

async function show(db: Kysely<NotesDatabase>, setting: string): Promise<unknown> {
  const { rows } = await sql<{ value: string }>`
    select current_setting(${setting}) as value`.execute(db)
  return rows[0]?.value
}

for (const [setting, value] of defaults) {
  describe(`a role with ${setting} = ${value}`, () => {
    it('A35, D11: writes in read committed, and a twin that waited replays', () =>
      withRoleDefault(setting, value, async () => {
        const key = `${setting} ${value}`
        const name = value.slice(0, 8)
        const first = host.connect({ application_name: `first ${name}` })
        const twin = host.connect({ application_name: `twin ${name}` })
        strictEqual(await show(first, setting), value)

        using hold = gate()
        const call = (db: Kysely<NotesDatabase>) =>
          createIdempotency(db, { lockTimeoutMs: PATIENCE_MS }).withIdempotency(
            scope,
            key,
            one,
            async (tx, context) => {
              const seen = {
                isolation: await show(tx, 'transaction_isolation'),
                readOnly: await show(tx, 'transaction_read_only'),
              }
              await writeNote(tx, context)
              await hold.pass()
              return seen
            },
          )
        const holder = beside(call(first))
        await stopsAt(hold, holder)
        const waiter = beside(call(twin))
        await host.untilWaiting(`twin ${name}`)
        hold.open()
        const seen = { isolation: 'read committed', readOnly: 'off' }
        deepStrictEqual(await holder, { ok: true, kind: 'executed', value: seen })
        deepStrictEqual(await waiter, { ok: true, kind: 'replayed', value: seen })
        deepStrictEqual(await host.left(key), written)

        strictEqual(await createIdempotency(twin).expire(scope, key), true)
        strictEqual((await call(first)).kind, 'expired')
        // The role keeps its default for everything else.
        strictEqual(await show(first, setting), value)
      }))
  })
}
