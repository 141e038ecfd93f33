import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { Kysely } from 'kysely'
import { createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

/** One connection, through the proxy: a call that spoils it spoils it for the next. */
function connect(): Kysely<NotesDatabase> {
  return host.connect({ connectionString: proxy.url(), max: 1 })
}

const options = { lockTimeoutMs: PATIENCE_MS, retryAfterMs: 2_345 }

function call(db: Kysely<NotesDatabase>, key: string) {
  return createIdempotency(db, options).withIdempotency(scope, key, one, writeNote)
}

/** Never a throw, and never `executed`: nobody knows. */
async function isUnknown(pending: ReturnType<typeof call>): Promise<void> {
  const result = await pending
  strictEqual(result.kind, 'unknown')
  const { cause, ...rest } = result
  deepStrictEqual(rest, { ok: false, kind: 'unknown', retryAfterMs: 2_345 })
  strictEqual(cause instanceof Error, true)
}

describe('COMMIT was sent and its answer was lost: the result is unknown (C6)', () => {
  it('and asking again executes, as it had not reached the server', async () => {
    const db = connect()
    proxy.meddle('lost before')
    await isUnknown(call(db, 'before'))
    deepStrictEqual(await call(db, 'before'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('before'), written)
  })

  it('and asking again replays, as the server had committed', async () => {
    const db = connect()
    proxy.meddle('lost behind')
    await isUnknown(call(db, 'behind'))
    deepStrictEqual(await host.left('behind'), written)
    deepStrictEqual(await call(db, 'behind'), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await host.left('behind'), written)
  })

  for (const [severity, code, closes] of [
    // As PgBouncer does.
    ['FATAL', '08P01', true],
    ['FATAL', '08P01', false],
    ['ERROR', '08006', false],
    ['ERROR', '57P01', false],
  ] as const) {
    const goesOn = closes ? 'closes' : 'goes on'
    it(`as by a pooler, which says ${severity} ${code} and ${goesOn}`, async () => {
      const db = connect()
      const key = `${severity} ${code} ${goesOn}`
      proxy.meddle({ severity, code, closes })
      await isUnknown(call(db, key))
      deepStrictEqual(await call(db, key), { ok: true, kind: 'replayed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })
  }

  it('and asking again is in_progress while the server has not noticed', async () => {
    const db = connect()
    const hasty = createIdempotency(db, { lockTimeoutMs: 1 })
    proxy.meddle('lost before, unnoticed')
    await isUnknown(call(db, 'unnoticed'))
    const result = await hasty.withIdempotency(scope, 'unnoticed', one, writeNote)
    strictEqual(result.kind, 'in_progress')
    proxy.notice()
    deepStrictEqual(await call(db, 'unnoticed'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('unnoticed'), written)
  })

  it('and asking again executes, once the server has ended the silent transaction', async () => {
    const db = connect()
    const brief = createIdempotency(db, { ...options, idleInTransactionTimeoutMs: 1_000 })
    proxy.meddle('lost before, unnoticed')
    await isUnknown(brief.withIdempotency(scope, 'silent', one, writeNote))
    deepStrictEqual(await call(db, 'silent'), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await host.left('silent'), written)
  })

  it('of a rejection likewise', async () => {
    const db = connect()
    const refuse = () =>
      createIdempotency(db, options).withIdempotency(scope, 'refused', one, (_, context) =>
        context.reject('no'),
      )
    proxy.meddle('lost behind')
    strictEqual((await refuse()).kind, 'unknown')
    deepStrictEqual(await refuse(), { ok: false, kind: 'rejected', refusal: 'no', replayed: true })
  })

  it('of expire is an error that says so, and it is safe to repeat', async () => {
    const db = connect()
    const idempotency = createIdempotency(db)
    await call(db, 'expire')
    proxy.meddle('lost behind')
    const failure = await failureOf(idempotency.expire(scope, 'expire'))
    strictEqual(isOncelyError(failure) && failure.code, 'outcome_unknown')
    strictEqual(await idempotency.expire(scope, 'expire'), false)
    deepStrictEqual((await host.left('expire')).records, ['expired'])
  })
})
