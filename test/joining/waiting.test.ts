import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  nothing,
  notesHost,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe('a call that joins, and meets a twin', () => {
  it('is in progress after lockTimeoutMs, and the transaction goes on', async () => {
    using held = gate()
    const db = host.connect()
    const idempotency = createIdempotency(db, { lockTimeoutMs: 50 })
    const first = beside(
      idempotency.withIdempotency(scope, 'k', one, async (tx, context) => {
        await held.pass()
        return writeNote(tx, context)
      }),
    )
    await held.reached
    await db.transaction().execute(async (tx) => {
      await tx.insertInto('notes').values({ key: 'mine', body: 'before' }).execute()
      const joined = idempotency.withTransaction(tx)
      const { kind } = await joined.withIdempotency(scope, 'k', one, writeNote)
      strictEqual(kind, 'in_progress')
      await tx.insertInto('notes').values({ key: 'mine', body: 'behind' }).execute()
    })
    deepStrictEqual((await host.left('mine')).notes.toSorted(), ['before', 'behind'])
    held.open()
    strictEqual((await first).kind, 'executed')
  })

  it('reports a deadlock as one: two keys in opposite order in two transactions', async () => {
    const options = { lockTimeoutMs: PATIENCE_MS }
    const idempotency = createIdempotency(host.connect(), options)
    using bothHold = gate()
    const use = (tx: Transaction<NotesDatabase>, key: string) =>
      idempotency.withTransaction(tx).withIdempotency(scope, key, one, writeNote)
    let holding = 0
    const inOrder = (application_name: string, keys: readonly [string, string]) =>
      beside(
        host
          .connect({ application_name })
          .transaction()
          .execute(async (tx) => {
            await use(tx, keys[0])
            holding += 1
            if (holding === 2) bothHold.open()
            await bothHold.pass()
            return use(tx, keys[1])
          }),
      )
    const calls = [inOrder('ab', ['a', 'b']), inOrder('ba', ['b', 'a'])]
    const ends = await Promise.allSettled(calls)
    const failed = ends.filter((end) => end.status === 'rejected')
    strictEqual(failed.length, 1)
    strictEqual((failed[0]?.reason as { code: string }).code, '40P01')
    deepStrictEqual((await host.left('a')).records, ['completed'])
    deepStrictEqual((await host.left('b')).records, ['completed'])
  })

  it('is given up by its signal, and leaves the transaction usable', async () => {
    using running = gate()
    const db = host.connect()
    const controller = new AbortController()
    const { signal } = controller
    await db.transaction().execute(async (tx) => {
      const joined = createIdempotency(db).withTransaction(tx)
      const call = beside(
        joined.withIdempotency(
          scope,
          'aborted',
          one,
          async (inner, context) => {
            await writeNote(inner, context)
            await running.pass()
          },
          { signal },
        ),
      )
      await running.reached
      controller.abort()
      await rejects(call, { code: 'aborted' })
      await tx.insertInto('notes').values({ key: 'aborted-mine', body: 'x' }).execute()
    })
    deepStrictEqual(await host.left('aborted'), nothing)
    deepStrictEqual((await host.left('aborted-mine')).notes, ['x'])
  })
})

describe('what an instance has set, where its call joins', () => {
  it('holds: authorize, quota, businessIdentity, onOutcome', async () => {
    const kinds: string[] = []
    const db = host.connect()
    const idempotency = createIdempotency(db, {
      onOutcome: ({ kind }) => kinds.push(kind),
    }).withOptions({
      authorize: () => false,
      quota: { limit: 2, windowMs: 60_000 },
      businessIdentity: { constraint: 'notes_pkey', resolve: () => ({ disposition: 'manual' }) },
    })
    await db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      const call = (key: string, body: string) =>
        joined.withIdempotency(scope, key, one, async (inner) => {
          await inner.insertInto('notes').values({ key: 'one', body }).execute()
        })
      await call('q1', 'a')
      deepStrictEqual(await call('q2', 'a'), {
        ok: false,
        kind: 'duplicate',
        disposition: 'manual',
      })
      await call('q2', 'b')
      await call('q3', 'c')
      await sql`select 1`.execute(tx)
    })
    const denied = await db
      .transaction()
      .execute((tx) =>
        idempotency.withTransaction(tx).withIdempotency(scope, 'q1', one, () => Promise.resolve()),
      )
    strictEqual(denied.kind, 'denied')
    deepStrictEqual(kinds, ['applied', 'duplicate', 'applied', 'quota_exceeded', 'denied'])
  })

  it('a resolver leaves nothing behind, neither what it writes nor what fails in it', async () => {
    const db = host.connect()
    await host.connect().insertInto('notes').values({ key: 'there', body: 'x' }).execute()
    let fails = false
    const idempotency = createIdempotency(db).withOptions({
      businessIdentity: {
        constraint: 'notes_pkey',
        table: 'notes',
        resolve: async (tx) => {
          await tx.insertInto('notes').values({ key: 'trace', body: 'x' }).execute()
          if (fails) await sql`select 1 / 0`.execute(tx)
          return { disposition: 'conflict' }
        },
      },
    })
    await db.transaction().execute(async (tx) => {
      const call = () =>
        idempotency.withTransaction(tx).withIdempotency(scope, 'resolved', one, async (inner) => {
          await inner.insertInto('notes').values({ key: 'there', body: 'x' }).execute()
        })
      strictEqual((await call()).kind, 'duplicate')
      fails = true
      await rejects(call(), { code: '22012' })
      await tx.insertInto('notes').values({ key: 'resolver-mine', body: 'x' }).execute()
    })
    deepStrictEqual(await host.left('trace'), nothing)
    deepStrictEqual((await host.left('resolver-mine')).notes, ['x'])
  })

  it('a claim cannot be committed by a caller that goes on behind a failure', async () => {
    const db = host.connect()
    await db.transaction().execute(async (tx) => {
      const joined = createIdempotency(db).withTransaction(tx)
      await failureOf(joined.withIdempotency(scope, 'left', one, () => Promise.reject(new Error())))
    })
    deepStrictEqual(await host.left('left'), nothing)
  })

  it('a claim cannot be committed while its function runs, behind the failure of something else', async () => {
    using running = gate()
    const db = host.connect({ max: 1 })
    let joined: Promise<unknown> | undefined
    const committed = db.transaction().execute(async (tx) => {
      joined = beside(
        createIdempotency(db)
          .withTransaction(tx)
          .withIdempotency(scope, 'open', one, async (inner, context) => {
            await writeNote(inner, context)
            await running.pass()
          }),
      )
      const other = running.reached.then(() => Promise.reject(new Error()))
      await failureOf(Promise.all([joined, other]))
    })
    await rejects(committed, { code: '23503', constraint: 'records_outcome_at_commit' })
    running.open()
    await failureOf(joined ?? committed)
    deepStrictEqual(await host.left('open'), nothing)
  })
})
