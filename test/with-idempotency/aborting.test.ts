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

  it('which swallows it: the call fails as PostgreSQL did', async () => {
    const failure = await failureOfAborted('swallowed', new Error('hung up'), async (statement) => {
      await statement.catch(() => undefined)
      return 'done'
    })
    strictEqual((failure as { code: string }).code, '57014')
  })

  it('before it was sent: the function may go on', async () => {
    const result = await idempotency.withIdempotency(scope, 'unsent', one, async (tx, context) => {
      const statement = tx.selectFrom('notes').selectAll()
      await failureOf(statement.execute({ signal: AbortSignal.abort(new Error('too late')) }))
      return writeNote(tx, context)
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'note' })
  })
})
