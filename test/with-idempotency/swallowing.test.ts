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

const host = notesHost(testDatabase())
// One connection: whatever a failed call leaves on it, the next one meets.
const idempotency = createIdempotency(host.connect({ max: 1 }))

/** Swallows what a statement fails with, and keeps it for comparison. */
async function swallow(statement: Promise<unknown>, into: unknown[]): Promise<void> {
  await statement.catch((error: unknown) => into.push(error))
}

const divide = (tx: Tx) => sql`select 1 / 0`.execute(tx)

/** The call fails with the first error that was swallowed; nothing is kept; the retry executes. */
async function fails(
  key: string,
  sqlState: string,
  fn: (tx: Tx, context: CallContext, swallowed: unknown[]) => unknown,
): Promise<void> {
  const swallowed: unknown[] = []
  const failure = await failureOf(
    idempotency.withIdempotency(scope, key, one, (tx, context) => fn(tx, context, swallowed)),
  )
  strictEqual(failure, swallowed[0])
  strictEqual((failure as { code: string }).code, sqlState)
  deepStrictEqual(await host.left(key), nothing)
  const retry = await idempotency.withIdempotency(scope, key, one, writeNote)
  deepStrictEqual(retry, { ok: true, kind: 'executed', value: 'note' })
}

describe('a function that swallows the error of a statement and returns', () => {
  it('C4: fails with that very error: a unique violation', () =>
    fails('unique', '23505', async (tx, context, swallowed) => {
      await writeNote(tx, context)
      await swallow(writeNote(tx, context), swallowed)
      context.emit({ type: 'x', aggregateType: 'note', aggregateId: 'unique', payload: 1 })
      return 'ok'
    }))

  it('C4: fails with the first of them, not with those that it caused', () =>
    fails('first', '22012', async (tx, context, swallowed) => {
      await writeNote(tx, context)
      await swallow(divide(tx), swallowed)
      await swallow(writeNote(tx, context), swallowed)
      await swallow(sql`select 1`.execute(tx), swallowed)
      deepStrictEqual(
        swallowed.map((error) => (error as { code: string }).code),
        ['22012', '25P02', '25P02'],
      )
    }))

  it('fails with the first when they ran side by side', () =>
    fails('side by side', '22012', async (tx, context, swallowed) => {
      await Promise.all([
        swallow(divide(tx), swallowed),
        swallow(writeNote(tx, context), swallowed),
        swallow(writeNote(tx, context), swallowed),
      ])
      return 'ok'
    }))

  it('C5: fails when it was the last statement, and the only one', () =>
    fails('last', '22012', async (tx, _, swallowed) => {
      await swallow(divide(tx), swallowed)
    }))

  it('fails with it whatever it returns: a value that could not be stored', () =>
    fails('not json', '23505', async (tx, context, swallowed) => {
      await writeNote(tx, context)
      await swallow(writeNote(tx, context), swallowed)
      return 1n
    }))

  it('C5: fails when a savepoint healed an earlier error but not the last one', () =>
    fails('half healed', '23505', async (tx, context, swallowed) => {
      await writeNote(tx, context)
      await sql`savepoint mine`.execute(tx)
      await swallow(divide(tx), [])
      await sql`rollback to savepoint mine`.execute(tx)
      await swallow(writeNote(tx, context), swallowed)
      return 'ok'
    }))
})

describe('a swallowed error that the function undid', () => {
  it("is the function's own affair: healed by a savepoint of its own", async () => {
    const result = await idempotency.withIdempotency(scope, 'healed', one, async (tx, context) => {
      await writeNote(tx, context, 'a')
      await sql`savepoint mine`.execute(tx)
      await swallow(writeNote(tx, context, 'a'), [])
      await sql`rollback to savepoint mine`.execute(tx)
      await writeNote(tx, context, 'b')
      return 'ok'
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'ok' })
    deepStrictEqual((await host.left('healed')).notes, ['a', 'b'])
  })

  it("is the function's own affair: healed by its last statement", async () => {
    const result = await idempotency.withIdempotency(scope, 'at last', one, async (tx, context) => {
      await writeNote(tx, context)
      await sql`savepoint mine`.execute(tx)
      await swallow(divide(tx), [])
      await sql`rollback to savepoint mine`.execute(tx)
    })
    strictEqual(result.kind, 'executed')
    deepStrictEqual((await host.left('at last')).notes, ['note'])
  })
})

describe('a swallowed error of the driver alone', () => {
  it('fails the call as well: the function is wrong about what is committed', async () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    const failures: unknown[] = []
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'unsent', one, async (tx, context) => {
        await writeNote(tx, context)
        await swallow(sql`select ${circular}`.execute(tx), failures)
        return 'ok'
      }),
    )
    deepStrictEqual(failures, [failure])
    deepStrictEqual(await host.left('unsent'), nothing)
  })
})
