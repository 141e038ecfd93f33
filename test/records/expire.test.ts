import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, other, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())

/** Executes the first time, with a resource. */
function call(key: string, by = idempotency, print = one) {
  return by.withIdempotency(scope, key, print, async (tx, context) => {
    context.resource({ type: 'note', id: `${key} 1` })
    return writeNote(tx, context)
  })
}

function recordOf(key: string) {
  return database.watcher
    .selectFrom('records')
    .selectAll()
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
}

describe('expire', () => {
  it('clears the response and keeps key, fingerprint, resource and clocks', async () => {
    await call('clears')
    const before = await recordOf('clears')
    strictEqual(await idempotency.expire(scope, 'clears'), true)
    const { expired_at, ...after } = await recordOf('clears')
    deepStrictEqual(
      { ...after, expired_at: null },
      { ...before, state: 'expired', response: null, expired_at: null },
    )
    notStrictEqual(expired_at, null)
    deepStrictEqual(await call('clears'), {
      ok: false,
      kind: 'expired',
      resource: { type: 'note', id: 'clears 1' },
    })
  })

  it('says true once, then false', async () => {
    await call('twice')
    strictEqual(await idempotency.expire(scope, 'twice'), true)
    const { expired_at } = await recordOf('twice')
    strictEqual(await idempotency.expire(scope, 'twice'), false)
    deepStrictEqual((await recordOf('twice')).expired_at, expired_at)
  })

  it('says false of a key that is not there, and leaves nothing that would claim it', async () => {
    strictEqual(await idempotency.expire(scope, 'absent'), false)
    strictEqual((await call('absent')).kind, 'executed')
  })

  it('touches no other scope', async () => {
    await call('scoped')
    for (const part of ['tenant', 'actor', 'operation'] as const) {
      strictEqual(await idempotency.expire({ ...scope, [part]: 'another' }, 'scoped'), false)
    }
    strictEqual((await call('scoped')).kind, 'replayed')
  })

  it('does not see an open claim, and does not wait for it', async () => {
    using hold = gate()
    const holder = beside(
      createIdempotency(host.connect()).withIdempotency(scope, 'open', one, async (tx, context) => {
        await hold.pass()
        return writeNote(tx, context)
      }),
    )
    await stopsAt(hold, holder)
    strictEqual(await idempotency.expire(scope, 'open'), false)
    hold.open()
    strictEqual((await holder).kind, 'executed')
    deepStrictEqual(await host.left('open'), written)
    strictEqual((await call('open')).kind, 'replayed')
  })

  it('checks what it is given', async () => {
    const failures = [
      await failureOf(idempotency.expire({ ...scope, actor: '' }, 'k')),
      await failureOf(idempotency.expire(scope, ' k')),
    ]
    deepStrictEqual(
      failures.map((failure) => isOncelyError(failure) && failure.code),
      ['invalid_scope', 'invalid_key'],
    )
  })
})

describe('an expired key', () => {
  it('conflicts with another fingerprint, and tells it nothing', async () => {
    await call('conflict')
    await idempotency.expire(scope, 'conflict')
    const result = await call('conflict', idempotency, other)
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })

  it('is one past its window as well, without any sweeper; its response can still be cleared', async () => {
    await call('past')
    await database.watcher
      .updateTable('records')
      .set({ replay_until: new Date(0) })
      .where('key', '=', 'past')
      .execute()
    for (const replayLock of ['none', 'share'] as const) {
      deepStrictEqual(await call('past', idempotency.withOptions({ replayLock })), {
        ok: false,
        kind: 'expired',
        resource: { type: 'note', id: 'past 1' },
      })
      strictEqual((await call('past', idempotency, other)).kind, 'conflict')
    }
    strictEqual((await recordOf('past')).state, 'completed')
    strictEqual(await idempotency.expire(scope, 'past'), true)
    strictEqual((await call('past')).kind, 'expired')
  })
})
