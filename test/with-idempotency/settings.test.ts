import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, type Idempotency } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { type NotesDatabase, notesHost, one, other, scope } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const admin = host.connect({ max: 1 })

const theirs = {
  lock_timeout: '7s',
  synchronous_commit: 'local',
  idle_in_transaction_session_timeout: '90s',
}
const set = sql.join(
  Object.entries(theirs).map(([name, value]) => sql`set ${sql.id(name)} = ${sql.lit(value)}`),
  sql`; `,
)
const startUp = Object.entries(theirs).map(([name, value]) => `-c ${name}=${value}`)

type Settings = Record<string, string>

/** Every setting of a session, so that whatever stays behind is seen; but for those that a language has once it is loaded. */
async function settingsOf(db: Kysely<NotesDatabase>): Promise<Settings> {
  const { rows } = await sql<{ name: string; value: string }>`
    select name, current_setting(name) as value from pg_settings
    where name not like 'plpgsql.%'
  `.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

function changed(before: Settings, after: Settings): Settings {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]))
}

/** One connection, with the host's settings, however they came there. */
const ways: Record<string, () => Promise<Kysely<NotesDatabase>>> = {
  async 'by the role'() {
    await alter(sql`role current_user in database`, 'set')
    const db = host.connect({ max: 1 })
    await settingsOf(db)
    await alter(sql`role current_user in database`, 'reset')
    return db
  },
  async 'by the database'() {
    await alter(sql`database`, 'set')
    const db = host.connect({ max: 1 })
    await settingsOf(db)
    await alter(sql`database`, 'reset')
    return db
  },
  async 'by the session'() {
    const db = host.connect({ max: 1 })
    await sql`${set}`.execute(db)
    return db
  },
  'by start-up options': () =>
    Promise.resolve(host.connect({ max: 1, options: startUp.join(' ') })),
}

async function alter(what: ReturnType<typeof sql>, change: 'set' | 'reset'): Promise<void> {
  const name = new URL(database.url).pathname.slice(1)
  for (const [setting, value] of Object.entries(theirs)) {
    const to = change === 'set' ? sql`set ${sql.id(setting)} = ${sql.lit(value)}` : sql`reset all`
    await sql`alter ${what} ${sql.id(name)} ${to}`.execute(admin)
  }
}

describe('settings of the host', () => {
  for (const [way, connect] of Object.entries(ways)) {
    it(`C11: are what the function sees, and the next borrower of the connection: ${way}`, async () => {
      const db = await connect()
      const idempotency = createIdempotency(db, { lockTimeoutMs: 20 })
      const own = await settingsOf(db)
      const found = Object.keys(theirs).map((name) => own[name])
      deepStrictEqual(found, ['7s', 'local', '90s'])
      const bare = await db
        .transaction()
        .setIsolationLevel('read committed')
        .setAccessMode('read write')
        .execute(settingsOf)

      const all: Settings[] = []
      const see = async (tx: Kysely<NotesDatabase>) => {
        all.push(await settingsOf(tx))
      }
      for (const [name, end] of Object.entries(endings)) {
        await end(idempotency, `${way}, ${name}`, see)
        deepStrictEqual(changed(own, await settingsOf(db)), {}, `left behind: ${name}`)
      }
      strictEqual(all.length, 4)
      for (const seen of all) {
        // A bound on silence of our own, the shorter one, is the only thing that is not theirs.
        deepStrictEqual(changed(bare, seen), { idle_in_transaction_session_timeout: '1min' })
      }
    })
  }
})

type See = (tx: Kysely<NotesDatabase>) => Promise<void>
type End = (idempotency: Idempotency<NotesDatabase>, key: string, see: See) => Promise<unknown>

/** Every way in which a call can end, and a key that another transaction holds. */
const endings: Record<string, End> = {
  async 'executed, replayed, conflict'(idempotency, key, see) {
    const kinds = [
      await idempotency.withIdempotency(scope, key, one, see),
      await idempotency.withIdempotency(scope, key, one, see),
      await idempotency.withIdempotency(scope, key, other, see),
    ].map(({ kind }) => kind)
    deepStrictEqual(kinds, ['executed', 'replayed', 'conflict'])
  },
  async rejected(idempotency, key, see) {
    await idempotency.withIdempotency(scope, key, one, async (tx, context) => {
      await see(tx)
      return context.reject('no')
    })
  },
  async thrown(idempotency, key, see) {
    const call = idempotency.withIdempotency(scope, key, one, async (tx) => {
      await see(tx)
      throw new Error('no')
    })
    await failureOf(call)
  },
  async 'a statement failed'(idempotency, key, see) {
    const call = idempotency.withIdempotency(scope, key, one, async (tx) => {
      await see(tx)
      await sql`select 1 / 0`.execute(tx)
    })
    await failureOf(call)
  },
  async in_progress(idempotency, key) {
    using hold = gate()
    const holding = createIdempotency(admin)
    const holder = beside(holding.withIdempotency(scope, key, one, hold.pass))
    await stopsAt(hold, holder)
    const result = await idempotency.withIdempotency(scope, key, one, () => 1)
    strictEqual(result.kind, 'in_progress')
    hold.open()
    await holder
  },
}
