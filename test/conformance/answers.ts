import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { failureOf } from '../support/calls.ts'
import { nothing, one, other, scope, writeNote, written } from '../support/notes-host.ts'
import type { Behaviour } from './host.ts'

/** What a driver or a plugin would rename, parse or drop if it got hold of it. */
const value = {
  user_id: 1,
  userId: 2,
  text: '{"a":1}',
  quoted: `"it's" \\ {,} null NULL`,
  unicode: 'é 漢 \u{1F600}',
  nothing: null,
  nested: [[], [{ created_at: '2026-01-01' }], 0.1, -1e-7],
}

/** How a call ends, and how the next one with the same key does. */
export const answers = {
  async 'executed, and replayed with an equal value; nothing runs twice'(subject) {
    const key = subject.key('executed')
    let runs = 0
    const call = () =>
      subject.idempotency().withIdempotency(scope, key, one, async (tx, context) => {
        runs += 1
        await writeNote(tx, context)
        return value
      })
    deepStrictEqual(await call(), { ok: true, kind: 'executed', value })
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value })
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value })
    strictEqual(runs, 1)
    deepStrictEqual(await subject.left(key), written)
  },

  async 'undefined, null, 0 and an empty text are replayed as themselves'(subject) {
    for (const [at, empty] of [undefined, null, 0, ''].entries()) {
      const call = () =>
        subject.idempotency().withIdempotency(scope, subject.key(`empty ${at}`), one, () => empty)
      deepStrictEqual(await call(), { ok: true, kind: 'executed', value: empty })
      deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: empty })
    }
  },

  async 'conflict: another fingerprint under the key learns nothing'(subject) {
    const key = subject.key('conflict')
    await subject.idempotency().withIdempotency(scope, key, one, writeNote)
    const twin = await subject.idempotency().withIdempotency(scope, key, other, writeNote)
    deepStrictEqual(twin, { ok: false, kind: 'conflict' })
    deepStrictEqual(await subject.left(key), written)
  },

  async 'rejected, and rejected again; the writes and events are undone'(subject) {
    const key = subject.key('rejected')
    for (const replayed of [false, true]) {
      const result = await subject
        .idempotency()
        .withIdempotency(scope, key, one, async (tx, context) => {
          await writeNote(tx, context)
          return context.reject(value)
        })
      deepStrictEqual(result, { ok: false, kind: 'rejected', refusal: value, replayed })
    }
    deepStrictEqual(await subject.left(key), { ...nothing, records: ['rejected'] })
  },

  async 'rejected behind a violated constraint, which is an answer of the business'(subject) {
    const key = subject.key('violated')
    const result = await subject
      .idempotency()
      .withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        await failureOf(writeNote(tx, context))
        return context.reject('twice')
      })
    deepStrictEqual(result, { ok: false, kind: 'rejected', refusal: 'twice', replayed: false })
    deepStrictEqual(await subject.left(key), { ...nothing, records: ['rejected'] })
  },

  async 'expired by hand, with the resource; the key does not open again'(subject) {
    const key = subject.key('expired')
    const resource = { type: 'note', id: '{"a_b":1}' }
    const call = (print = one) =>
      subject.idempotency().withIdempotency(scope, key, print, (_, context) => {
        context.resource(resource)
        return value
      })
    await call()
    strictEqual(await subject.idempotency().expire(scope, key), true)
    strictEqual(await subject.idempotency().expire(scope, key), false)
    deepStrictEqual(await call(), { ok: false, kind: 'expired', resource })
    deepStrictEqual(await call(other), { ok: false, kind: 'conflict' })
  },

  async 'expired by time, whether or not anybody has swept'(subject) {
    const key = subject.key('past')
    const call = () => subject.idempotency().withIdempotency(scope, key, one, writeNote)
    await call()
    await subject.pastWindow(key)
    deepStrictEqual(await call(), { ok: false, kind: 'expired' })
    deepStrictEqual((await subject.left(key)).records, ['completed'])
  },

  async 'a function that throws leaves nothing, and the key free'(subject) {
    const key = subject.key('thrown')
    const own = new Error('own')
    const failing = subject.idempotency().withIdempotency(scope, key, one, async (tx, context) => {
      await writeNote(tx, context)
      throw own
    })
    strictEqual(await failureOf(failing), own)
    deepStrictEqual(await subject.left(key), nothing)
    const again = await subject.idempotency().withIdempotency(scope, key, one, writeNote)
    strictEqual(again.kind, 'executed')
    deepStrictEqual(await subject.left(key), written)
  },

  async 'a swallowed error of a statement fails the call, and leaves nothing'(subject) {
    const key = subject.key('swallowed')
    let first: unknown
    const failing = subject.idempotency().withIdempotency(scope, key, one, async (tx, context) => {
      await writeNote(tx, context)
      first = await failureOf(writeNote(tx, context))
      return 'as if nothing had happened'
    })
    strictEqual(await failureOf(failing), first)
    deepStrictEqual(await subject.left(key), nothing)
  },
} as const satisfies Record<string, Behaviour>
