import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { nothing, notesHost, one, other, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const db = host.connect()
const idempotency = createIdempotency(db)

describe('a call that joins the transaction of its caller', () => {
  it('is committed with it: applied, then replayed, in other transactions and in calls of their own', async () => {
    const join = () =>
      db
        .transaction()
        .execute((tx) =>
          idempotency.withTransaction(tx).withIdempotency(scope, 'k', one, writeNote),
        )
    deepStrictEqual(await join(), { ok: true, kind: 'applied', value: 'note' })
    deepStrictEqual(await host.left('k'), written)
    deepStrictEqual(await join(), { ok: true, kind: 'replayed', value: 'note' })
    strictEqual((await idempotency.withIdempotency(scope, 'k', one, writeNote)).kind, 'replayed')
    const conflict = db
      .transaction()
      .execute((tx) =>
        idempotency.withTransaction(tx).withIdempotency(scope, 'k', other, writeNote),
      )
    strictEqual((await conflict).kind, 'conflict')
  })

  it('fails where all constraints are checked at once, unlike where the caller names its own', async () => {
    await sql`create table public.theirs (id int constraint theirs_id unique deferrable initially deferred)`.execute(
      database.watcher,
    )
    await db.transaction().execute(async (tx) => {
      const call = () =>
        idempotency.withTransaction(tx).withIdempotency(scope, 'at once', one, writeNote)
      await sql`set constraints all immediate`.execute(tx)
      await rejects(call(), { code: '23503', constraint: 'records_outcome_at_commit' })
      await sql`set constraints all deferred`.execute(tx)
      await sql`set constraints theirs_id immediate`.execute(tx)
      strictEqual((await call()).kind, 'applied')
    })
    deepStrictEqual(await host.left('at once'), written)
  })

  it('leaves no trace when the caller rolls back', async () => {
    const boom = new Error('boom')
    const rolledBack = db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      strictEqual((await joined.withIdempotency(scope, 'undone', one, writeNote)).kind, 'applied')
      throw boom
    })
    await rejects(rolledBack, boom)
    deepStrictEqual(await host.left('undone'), nothing)
    strictEqual(
      (await idempotency.withIdempotency(scope, 'undone', one, writeNote)).kind,
      'executed',
    )
  })

  it('leaves the transaction usable when its function fails, in whatever way', async () => {
    const boom = new Error('boom')
    await db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      await tx.insertInto('notes').values({ key: 'mine', body: 'before' }).execute()
      const failing = [
        joined.withIdempotency(scope, 'f1', one, async (inner, context) => {
          await writeNote(inner, context)
          throw boom
        }),
      ]
      strictEqual(await failureOf(failing[0] as Promise<unknown>), boom)
      await rejects(
        joined.withIdempotency(scope, 'f2', one, async (inner) => {
          await sql`select 1 / 0`.execute(inner)
        }),
        { code: '22012' },
      )
      // Swallowed: the call fails all the same, and with that error.
      await rejects(
        joined.withIdempotency(scope, 'f3', one, async (inner) => {
          await sql`select 1 / 0`.execute(inner).catch(() => undefined)
        }),
        { code: '22012' },
      )
      await tx.insertInto('notes').values({ key: 'mine', body: 'behind' }).execute()
    })
    deepStrictEqual((await host.left('mine')).notes.toSorted(), ['before', 'behind'])
    for (const key of ['f1', 'f2', 'f3']) deepStrictEqual(await host.left(key), nothing)
  })

  it('stores a refusal with the caller, without what was written before it', async () => {
    const refused = await db.transaction().execute((tx) =>
      idempotency.withTransaction(tx).withIdempotency(scope, 'r', one, async (inner, context) => {
        await writeNote(inner, context)
        return context.reject('no')
      }),
    )
    deepStrictEqual(refused, { ok: false, kind: 'rejected', refusal: 'no', replayed: false })
    deepStrictEqual(await host.left('r'), { ...nothing, records: ['rejected'] })
  })

  it('refuses the same key twice in one transaction, and takes it again behind a savepoint', async () => {
    await db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      const call = () => joined.withIdempotency(scope, 'twice', one, writeNote)
      await sql`savepoint before`.execute(tx)
      strictEqual((await call()).kind, 'applied')
      await rejects(call(), { code: 'key_reused' })
      await rejects(joined.withIdempotency(scope, 'twice', other, writeNote), {
        code: 'key_reused',
      })
      await sql`rollback to savepoint before`.execute(tx)
      strictEqual((await call()).kind, 'applied')
    })
    deepStrictEqual(await host.left('twice'), written)
  })

  it('refuses the key of the call that it is in', async () => {
    const idle = () => 'never'
    const outer = idempotency.withIdempotency(scope, 'within', one, async (tx) => {
      await rejects(idempotency.withTransaction(tx).withIdempotency(scope, 'within', one, idle), {
        code: 'key_reused',
      })
      return 'outer'
    })
    deepStrictEqual(await outer, { ok: true, kind: 'executed', value: 'outer' })
  })

  it('refuses a second call before the first has ended, which stays whole', async () => {
    const boom = new Error('boom')
    using running = gate()
    await db.transaction().execute(async (tx) => {
      const failing = beside(
        idempotency.withTransaction(tx).withIdempotency(scope, 'b1', one, async () => {
          await running.pass()
          throw boom
        }),
      )
      await running.reached
      // The same transaction, however it is wrapped.
      for (const same of [tx, tx.withSchema('public'), tx.withoutPlugins()]) {
        const second = idempotency
          .withTransaction(same)
          .withIdempotency(scope, 'b2', one, writeNote)
        await rejects(second, { code: 'transaction_busy' })
      }
      running.open()
      strictEqual(await failureOf(failing), boom)
      const joined = idempotency.withTransaction(tx)
      strictEqual((await joined.withIdempotency(scope, 'b2', one, writeNote)).kind, 'applied')
    })
    deepStrictEqual(await host.left('b1'), nothing)
    deepStrictEqual(await host.left('b2'), written)
  })

  it('keeps the first error when its connection is lost', async () => {
    const first = new Error('first')
    const seen: unknown[] = []
    const call = db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      const losing = joined.withIdempotency(scope, 'lost', one, async (inner) => {
        await sql`select pg_terminate_backend(pg_backend_pid())`
          .execute(inner)
          .catch(() => undefined)
        throw first
      })
      seen.push(await failureOf(losing))
    })
    await rejects(call)
    deepStrictEqual(seen, [first])
  })

  it('does not begin when its signal has aborted already', async () => {
    let ran = false
    await db.transaction().execute(async (tx) => {
      const call = idempotency.withTransaction(tx).withIdempotency(
        scope,
        'early',
        one,
        () => {
          ran = true
        },
        { signal: AbortSignal.abort() },
      )
      await rejects(call, { code: 'aborted' })
    })
    strictEqual(ran, false)
  })

  it('joins the function of another call, whose outcome is its own', async () => {
    const result = await idempotency.withIdempotency(scope, 'outer', one, async (tx, context) => {
      await writeNote(tx, context)
      const inner = await idempotency
        .withTransaction(tx)
        .withIdempotency(scope, 'inner', one, writeNote)
      return inner.kind
    })
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'applied' })
    deepStrictEqual(await host.left('inner'), written)
  })

  for (const isolation of ['repeatable read', 'serializable'] as const) {
    it(`C2: refuses ${isolation}, and leaves it usable`, async () => {
      const rows = await db
        .transaction()
        .setIsolationLevel(isolation)
        .execute(async (tx) => {
          const joined = idempotency.withTransaction(tx)
          await rejects(joined.withIdempotency(scope, isolation, one, writeNote), {
            code: 'isolation_unsupported',
          })
          return tx.selectFrom('notes').selectAll().where('key', '=', isolation).execute()
        })
      deepStrictEqual(rows, [])
    })
  }

  it('refuses a transaction that has failed before, and what is none', async () => {
    const failed = db.transaction().execute(async (tx) => {
      await rejects(sql`select 1 / 0`.execute(tx))
      await idempotency.withTransaction(tx).withIdempotency(scope, 'dead', one, writeNote)
    })
    await rejects(failed, { code: 'transaction_aborted' })
    for (const none of [db, undefined, {}, database.pool()] as never[]) {
      throws(() => idempotency.withTransaction(none), { code: 'invalid_options' })
    }
  })

  it('gives the caller its own settings back, whatever it came to', async () => {
    await idempotency.withIdempotency(scope, 'replayed', one, writeNote)
    await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout to '7s'`.execute(tx)
      const settings = async () => {
        const { rows } = await sql`select current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle`.execute(tx)
        return rows[0]
      }
      const before = await settings()
      const joined = idempotency.withTransaction(tx)
      await joined.withIdempotency(scope, 'settings', one, async (inner) => {
        const { rows } = await sql<{
          lock: string
        }>`select current_setting('lock_timeout') as lock`.execute(inner)
        strictEqual(rows[0]?.lock, '7s')
      })
      deepStrictEqual(await settings(), before)
      await joined.withIdempotency(scope, 'replayed', one, writeNote)
      deepStrictEqual(await settings(), before)
      await failureOf(
        joined.withIdempotency(scope, 'thrown', one, () => Promise.reject(new Error())),
      )
      deepStrictEqual(await settings(), before)
    })
  })
})
