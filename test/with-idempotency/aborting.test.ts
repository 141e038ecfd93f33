import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
} from '../support/notes-host.ts'

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect({ application_name: 'host', max: 1 }))

/** Aborts the function's statement while it waits for a lock; what the call fails with. */
async function failureOfAborted(
  key: string,
  reason: Error,
  fn: (statement: Promise<unknown>) => Promise<unknown>,
): Promise<unknown> {
  const abort = new AbortController()
  const insert = (tx: Transaction<NotesDatabase>) =>
    tx
      .insertInto('notes')
      .values({ key, body: 'a' })
      .execute({ signal: abort.signal, inflightQueryAbortStrategy: 'cancel query' })
  const failure = await host
    .connect()
    .transaction()
    .execute(async (inTheWay) => {
      await sql`lock table notes in share mode`.execute(inTheWay)
      const call = beside(idempotency.withIdempotency(scope, key, one, (tx) => fn(insert(tx))))
      await host.untilWaiting('host')
      abort.abort(reason)
      return failureOf(call)
    })
  deepStrictEqual(await host.left(key), nothing)
  strictEqual((await idempotency.withIdempotency(scope, key, one, writeNote)).kind, 'executed')
  return failure
}

describe('an AbortSignal cancels a statement of the function', () => {
  it('which lets it through: the call fails with the reason', async () => {
    const reason = new Error('the caller hung up')
    strictEqual(await failureOfAborted('thrown', reason, (statement) => statement), reason)
  })

  it('which swallows it: the call fails with what the function saw', async () => {
    const reason = new Error('hung up')
    const failure = await failureOfAborted('swallowed', reason, async (statement) => {
      await statement.catch(() => undefined)
      return 'done'
    })
    strictEqual(failure, reason)
  })

  it('that PostgreSQL goes on with: what the function took for failed is not committed', async () => {
    const reason = new Error('too late')
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'ignored', one, async (tx, context) => {
        const abort = new AbortController()
        const values = { key: context.key, body: 'note' }
        const insert = tx.insertInto('notes').values(values).execute({ signal: abort.signal })
        abort.abort(reason)
        await insert.catch(() => undefined)
        return 'gave up'
      }),
    )
    strictEqual(failure, reason)
    deepStrictEqual(await host.left('ignored'), nothing)
  })

  it('that PostgreSQL goes on with, and a later savepoint does not undo: nothing is committed', async () => {
    const reason = new Error('too late')
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'later', one, async (tx, context) => {
        const abort = new AbortController()
        const values = { key: context.key, body: 'note' }
        const insert = tx.insertInto('notes').values(values).execute({ signal: abort.signal })
        abort.abort(reason)
        await insert.catch(() => undefined)
        await sql`savepoint mine`.execute(tx)
        await sql`rollback to savepoint mine`.execute(tx)
        return 'gave up'
      }),
    )
    strictEqual(failure, reason)
    deepStrictEqual(await host.left('later'), nothing)
  })

  it('before it was sent, which a savepoint of the function makes good', async () => {
    const result = await idempotency.withIdempotency(scope, 'unsent', one, async (tx, context) => {
      await sql`savepoint mine`.execute(tx)
      const statement = tx.selectFrom('notes').selectAll()
      await failureOf(statement.execute({ signal: AbortSignal.abort(new Error('too late')) }))
      await sql`rollback to savepoint mine`.execute(tx)
      return writeNote(tx, context)
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'note' })
  })
})
