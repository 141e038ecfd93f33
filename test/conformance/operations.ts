import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { sql } from 'kysely'

import { failureOf } from '../support/calls.ts'
import { nothing, one, scope, writeNote, written } from '../support/notes-host.ts'
import type { Behaviour } from './host.ts'

/** What only some operations, or some calls, ask for. */
export const operations = {
  async 'authorize is asked before a replay, with the record'(subject) {
    const key = subject.key('authorize')
    let allowed = true
    const states: string[] = []
    const guarded = subject.idempotency().withOptions({
      async authorize(tx, record) {
        await sql`select 1`.execute(tx)
        ok(Math.abs(record.createdAt.getTime() - Date.now()) < 60_000)
        states.push(record.state)
        return allowed
      },
    })
    const call = () => guarded.withIdempotency(scope, key, one, writeNote)
    strictEqual((await call()).kind, 'executed')
    strictEqual((await call()).kind, 'replayed')
    allowed = false
    deepStrictEqual(await call(), { ok: false, kind: 'denied' })
    strictEqual((await guarded.lookup(scope, key, one)).kind, 'denied')
    deepStrictEqual(states, ['completed', 'completed', 'completed'])
  },

  async 'replay makes the answer anew from the resource, and nothing is stored'(subject) {
    const key = subject.key('anew')
    const rebuilding = subject.idempotency().withOptions({
      replay: (tx, { resource }) =>
        tx
          .selectFrom('notes')
          .select('body')
          .where('key', '=', String(resource?.id))
          .executeTakeFirstOrThrow(),
    })
    const call = () =>
      rebuilding.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        context.resource({ type: 'note', id: key })
        return 'shown once'
      })
    deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'shown once' })
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: { body: 'note' } })
    const plain = subject.idempotency().withIdempotency(scope, key, one, writeNote)
    strictEqual(((await failureOf(plain)) as { code?: unknown }).code, 'response_not_stored')
  },

  async 'businessIdentity makes a violation of its constraint a duplicate'(subject) {
    const shared = subject.key('shared')
    const identifying = subject.idempotency().withOptions({
      businessIdentity: {
        constraint: 'notes_pkey',
        table: 'notes',
        resolve: async (tx) => {
          const note = tx.selectFrom('notes').select('body').where('key', '=', shared)
          return { disposition: 'replay', value: await note.executeTakeFirstOrThrow() }
        },
      },
    })
    const call = (key: string) =>
      identifying.withIdempotency(scope, key, one, async (tx) => {
        await tx.insertInto('notes').values({ key: shared, body: 'order' }).execute()
      })
    const [first, second] = [subject.key('identity 1'), subject.key('identity 2')]
    strictEqual((await call(first)).kind, 'executed')
    deepStrictEqual(await call(second), {
      ok: false,
      kind: 'duplicate',
      disposition: 'replay',
      value: { body: 'order' },
    })
    deepStrictEqual(await subject.left(second), nothing)
  },

  async 'quota bounds the new keys of an actor, and not replays'(subject) {
    const limited = subject.idempotency().withOptions({ quota: { limit: 1, windowMs: 3_600_000 } })
    const call = (name: string) =>
      limited.withIdempotency(
        { ...scope, actor: subject.key('quota') },
        subject.key(name),
        one,
        writeNote,
      )
    strictEqual((await call('quota 1')).kind, 'executed')
    strictEqual((await call('quota 1')).kind, 'replayed')
    const exceeded = await call('quota 2')
    strictEqual(exceeded.kind, 'quota_exceeded')
    ok(exceeded.retryAfterMs > 3_600_000 && exceeded.retryAfterMs <= 3_960_000)
    deepStrictEqual(await subject.left(subject.key('quota 2')), nothing)
  },

  async 'a signal and a deadline end a call before COMMIT, and leave the key free'(subject) {
    const key = subject.key('given up')
    const controller = new AbortController()
    const never = new Promise<never>(() => undefined)
    const bounds = [
      ['aborted', { signal: controller.signal }],
      ['deadline_exceeded', { deadlineMs: 100 }],
    ] as const
    for (const [code, bound] of bounds) {
      const call = subject.idempotency().withIdempotency(
        scope,
        key,
        one,
        async (tx, context) => {
          await writeNote(tx, context)
          controller.abort()
          return never
        },
        bound,
      )
      strictEqual(((await failureOf(call)) as { code?: unknown }).code, code)
    }
    const patient = subject.idempotency({ lockTimeoutMs: 1_000 })
    const result = await patient.withIdempotency(scope, key, one, writeNote, { deadlineMs: 60_000 })
    strictEqual(result.kind, 'executed')
    deepStrictEqual(await subject.left(key), written)
  },
} as const satisfies Record<string, Behaviour>
