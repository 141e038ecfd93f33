import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'

import { type Kysely, sql, type Transaction } from 'kysely'

import { failureOf } from '../support/calls.ts'
import {
  type NotesDatabase,
  nothing,
  one,
  other,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import type { Behaviour } from './host.ts'

const inTransaction = <Value>(
  db: Kysely<NotesDatabase>,
  run: (tx: Transaction<NotesDatabase>) => Promise<Value>,
) => db.transaction().setIsolationLevel('read committed').setAccessMode('read write').execute(run)

/** Calls inside a transaction of the caller's. */
export const joining = {
  async 'joined: applied, and replayed and in conflict once it is committed'(subject) {
    const key = subject.key('joined')
    const call = (print = one) =>
      inTransaction(subject.db, (tx) =>
        subject.idempotency().withTransaction(tx).withIdempotency(scope, key, print, writeNote),
      )
    deepStrictEqual(await call(), { ok: true, kind: 'applied', value: 'note' })
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await call(other), { ok: false, kind: 'conflict' })
    deepStrictEqual(await subject.left(key), written)
  },

  async 'joined: a caller that rolls back leaves no trace'(subject) {
    const key = subject.key('joined and undone')
    const own = new Error('own')
    const call = inTransaction(subject.db, async (tx) => {
      await subject.idempotency().withTransaction(tx).withIdempotency(scope, key, one, writeNote)
      throw own
    })
    await rejects(call, own)
    deepStrictEqual(await subject.left(key), nothing)
  },

  async 'joined: a failing function leaves the transaction usable'(subject) {
    const [failing, next, mine] = ['joined 1', 'joined 2', 'joined 3'].map((name) =>
      subject.key(name),
    ) as [string, string, string]
    await inTransaction(subject.db, async (tx) => {
      const joined = subject.idempotency().withTransaction(tx)
      const failure = joined.withIdempotency(scope, failing, one, async (inner, context) => {
        await writeNote(inner, context)
        await writeNote(inner, context)
      })
      strictEqual(((await failureOf(failure)) as { code?: unknown }).code, '23505')
      await tx.insertInto('notes').values({ key: mine, body: 'behind' }).execute()
      const refused = await joined.withIdempotency(scope, next, one, async (inner, context) => {
        await writeNote(inner, context)
        return context.reject('no')
      })
      strictEqual(refused.kind, 'rejected')
    })
    deepStrictEqual(await subject.left(failing), nothing)
    deepStrictEqual(await subject.left(next), { ...nothing, records: ['rejected'] })
    deepStrictEqual((await subject.left(mine)).notes, ['behind'])
  },

  async 'joined: anything but read committed is refused'(subject) {
    const call = inTransaction(subject.db, async (tx) => {
      // Not of the driver, which may ignore what it is asked for.
      await sql`set transaction isolation level serializable`.execute(tx)
      const joined = subject.idempotency().withTransaction(tx)
      return joined.withIdempotency(scope, subject.key('strict'), one, writeNote)
    })
    await rejects(call, { code: 'isolation_unsupported' })
    deepStrictEqual(await subject.left(subject.key('strict')), nothing)
  },
} as const satisfies Record<string, Behaviour>
