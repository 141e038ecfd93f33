import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { type CallContext, createIdempotency } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
} from '../support/notes-host.ts'

type Tx = Transaction<NotesDatabase>
type Step = (tx: Tx, context: CallContext) => Promise<unknown>

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect({ max: 1 }))

const refused = { notes: [], records: ['rejected'], events: [] }

const unique: Step = (tx, context) => writeNote(tx, context)
const missing: Step = (tx) => sql`insert into notes (key, body) values ('k', null)`.execute(tx)
const divide: Step = (tx) => sql`select 1 / 0`.execute(tx)
const ask: Step = (tx) => sql`select 1`.execute(tx)
const save: Step = (tx) => sql`savepoint mine`.execute(tx)
const heal: Step = (tx) => sql`rollback to savepoint mine`.execute(tx)
const nothingAtAll: Step = (tx) => sql.raw('-- nothing').execute(tx)
const timeOut: Step = async (tx) => {
  await sql`set local statement_timeout = 1`.execute(tx)
  await sql`select pg_sleep(60)`.execute(tx)
}

/** Writes the note, takes the steps, swallows what they fail with, and refuses. */
function refuseBehind(key: string, steps: readonly Step[]) {
  const swallowed: unknown[] = []
  const call = idempotency.withIdempotency(scope, key, one, async (tx, context) => {
    await writeNote(tx, context)
    for (const step of steps) {
      await step(tx, context).catch((error: unknown) => swallowed.push(error))
    }
    return context.reject({ code: 'refused' })
  })
  return { call, swallowed }
}

describe('a rejection behind a swallowed error is an answer of the business, and stored,', () => {
  const cases: Record<string, Step[]> = {
    'when the error is a unique violation, 23505': [unique],
    'when it is a missing value, 23502': [missing],
    'when statements failed because of it, 25P02': [unique, ask, divide],
    "when it was another, but a savepoint of the function's own healed it": [save, divide, heal],
    'when another was healed before it': [save, divide, heal, unique],
  }
  for (const [name, steps] of Object.entries(cases)) {
    it(name, async () => {
      const { call } = refuseBehind(name, steps)
      strictEqual((await call).kind, 'rejected')
      deepStrictEqual(await host.left(name), refused)
      const again = await refuseBehind(name, []).call
      strictEqual(again.kind === 'rejected' && again.replayed, true)
    })
  }
})

describe('a rejection behind a swallowed error is not stored, and the error thrown,', () => {
  const cases: Record<string, [sqlState: string, Step[]]> = {
    'when it is a time-out, 57014': ['57014', [timeOut]],
    'when a statement succeeded behind it all the same': ['57014', [timeOut, nothingAtAll]],
    'when it is a division by zero, 22012': ['22012', [divide]],
    'when it came first, with a unique violation behind it': ['22012', [divide, unique]],
    'when an integrity violation was healed before it': ['22012', [save, unique, heal, divide]],
  }
  for (const [name, [sqlState, steps]] of Object.entries(cases)) {
    it(name, async () => {
      const { call, swallowed } = refuseBehind(name, steps)
      const failure = await failureOf(call)
      strictEqual((failure as { code: string }).code, sqlState)
      strictEqual(swallowed.includes(failure), true)
      deepStrictEqual(await host.left(name), nothing)
      const retry = await idempotency.withIdempotency(scope, name, one, writeNote)
      strictEqual(retry.kind, 'executed')
    })
  }
})
