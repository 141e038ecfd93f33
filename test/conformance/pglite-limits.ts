// What is otherwise on PGlite, which has one session, in this process, and no clock that interrupts.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { diagnose, migrateDown, migrateToLatest } from 'oncely/migrations'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { gate } from '../support/gate.ts'
import { type NotesDatabase, one, scope, writeNote } from '../support/notes-host.ts'

/** To be called behind the conformance suite, which has made the tables of the host. */
export function pgliteLimits(db: Kysely<NotesDatabase>): void {
  const idempotency = createIdempotency(db)
  const call = (key: string) => idempotency.withIdempotency(scope, key, one, writeNote)

  it('is migrated up and down again, and is well by the doctor', async () => {
    const applied = ['0001-records', '0002-outbox', '0003-sink']
    deepStrictEqual(await migrateToLatest(db), { applied: [] })
    deepStrictEqual(await migrateDown(db, { steps: Infinity }), { undone: applied.toReversed() })
    deepStrictEqual(await migrateToLatest(db), { applied })
    deepStrictEqual(await migrateToLatest(db), { applied: [] })
    deepStrictEqual((await diagnose(db)).findings, [])
  })

  it('lets callers at once take turns, as a pool of one does', async () => {
    using hold = gate()
    const first = beside(
      idempotency.withIdempotency(scope, 'turns', one, async (tx, context) => {
        await hold.pass()
        return writeNote(tx, context)
      }),
    )
    await stopsAt(hold, first)
    const others = ['turns', 'turns', 'another'].map((key) => beside(call(key)))
    hold.open()
    const kinds = (await Promise.all([first, ...others])).map(({ kind }) => kind)
    deepStrictEqual(kinds, ['executed', 'replayed', 'replayed', 'executed'])
  })

  it('has no second connection for a call inside a call, which only its deadline ends', async () => {
    const outer = idempotency.withIdempotency(scope, 'outer', one, async () => {
      const inner = idempotency.withIdempotency(scope, 'inner', one, writeNote, { deadlineMs: 50 })
      return ((await failureOf(inner)) as { code?: unknown }).code
    })
    deepStrictEqual(await outer, { ok: true, kind: 'executed', value: 'deadline_exceeded' })
    strictEqual((await call('inner')).kind, 'executed')
  })

  // Its dialect begins a transaction as the session's defaults say, whatever it is asked for.
  it('refuses calls where the default is not read committed', async () => {
    await sql`set default_transaction_isolation = 'serializable'`.execute(db)
    await rejects(call('strict'), { code: 'isolation_unsupported' })
    await sql`reset default_transaction_isolation`.execute(db)
    strictEqual((await call('strict')).kind, 'executed')
  })

  it('fails calls where the default is read only', async () => {
    await sql`set default_transaction_read_only = on`.execute(db)
    await rejects(call('read only'), { code: '25006' })
    await sql`reset default_transaction_read_only`.execute(db)
    strictEqual((await call('read only')).kind, 'executed')
  })

  it('is interrupted by no time-out of the server', async () => {
    await sql`set statement_timeout = 1`.execute(db)
    await sql`select pg_sleep(0.05)`.execute(db)
    await sql`reset statement_timeout`.execute(db)
  })

  it('has no streams', async () => {
    const streaming = idempotency.withIdempotency(scope, 'stream', one, async (tx) => {
      for await (const _ of tx.selectFrom('notes').selectAll().stream()) return
    })
    await rejects(streaming, /Streaming is not supported by PGlite/)
    strictEqual((await call('stream')).kind, 'executed')
  })
}
