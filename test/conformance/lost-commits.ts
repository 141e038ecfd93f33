import { deepStrictEqual, ok } from 'node:assert/strict'

import { isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { nothing, one, scope, writeNote, written } from '../support/notes-host.ts'
import type { CommitFate, WireProxy } from '../support/wire-proxy.ts'
import type { Behaviour, Subject } from './host.ts'

/** A host whose next COMMIT meets that fate. */
function losing(subject: Subject, fate: CommitFate) {
  const { host } = subject
  const proxy: WireProxy | undefined = host.proxy
  if (!proxy) throw new Error(`${host.name} needs a proxy, or a reason why it cannot have one`)
  const db = host.connect({ url: proxy.url() })
  proxy.meddle(fate)
  return subject.idempotency({}, db)
}

/** COMMIT was sent, and its answer lost. */
export const lostCommits = {
  async 'a COMMIT that took effect, its answer lost: executed, recovered, and replayed'(subject) {
    const key = subject.key('lost behind')
    const idempotency = losing(subject, 'lost behind')
    const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
    const recovered = { ok: true, kind: 'executed', value: 'note', recovered: true }
    deepStrictEqual(await call(), recovered)
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await subject.left(key), written)
  },

  async 'a COMMIT lost on its way: the definite error, and the key is free'(subject) {
    const key = subject.key('lost before')
    const idempotency = losing(subject, 'lost before')
    const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
    const failure = await failureOf(call())
    ok(failure instanceof Error && !isOncelyError(failure), String(failure))
    deepStrictEqual(await subject.left(key), nothing)
    deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await subject.left(key), written)
  },

  async 'a refusal whose COMMIT took effect, its answer lost: rejected, recovered'(subject) {
    const key = subject.key('refusal lost')
    const idempotency = losing(subject, 'lost behind')
    const call = () =>
      idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        return context.reject('no')
      })
    const rejected = { ok: false, kind: 'rejected', refusal: 'no' }
    deepStrictEqual(await call(), { ...rejected, replayed: false, recovered: true })
    deepStrictEqual(await call(), { ...rejected, replayed: true })
    deepStrictEqual(await subject.left(key), { ...nothing, records: ['rejected'] })
  },
} as const satisfies Record<string, Behaviour>
