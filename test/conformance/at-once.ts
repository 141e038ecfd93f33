import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { beside, stopsAt } from '../support/calls.ts'
import { gate } from '../support/gate.ts'
import { one, scope, writeNote, written } from '../support/notes-host.ts'
import { untilWaiting } from '../support/waiting.ts'
import type { Behaviour, Subject } from './host.ts'

function holding(subject: Subject, key: string) {
  const hold = gate()
  const holder = beside(
    subject.idempotency().withIdempotency(scope, key, one, async (tx, context) => {
      await writeNote(tx, context)
      await hold.pass()
      return 'note'
    }),
  )
  return { hold, holder }
}

/** Two callers with one key. */
export const atOnce = {
  async 'at once: the second waits for the first, and replays it'(subject) {
    const key = subject.key('at once')
    const { hold, holder } = holding(subject, key)
    using _ = hold
    await stopsAt(hold, holder)
    const applicationName = `twin ${subject.host.name}`.slice(0, 60)
    const db = subject.host.connect({ applicationName })
    // Below the statement time-outs that hosts have here.
    const twin = beside(
      subject.idempotency({ lockTimeoutMs: 1_500 }, db).withIdempotency(scope, key, one, writeNote),
    )
    await untilWaiting(subject.watcher, applicationName)
    hold.open()
    deepStrictEqual(await holder, { ok: true, kind: 'executed', value: 'note' })
    deepStrictEqual(await twin, { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await subject.left(key), written)
  },

  async 'at once: in_progress for who does not wait, by lookup too'(subject) {
    const key = subject.key('in progress')
    const { hold, holder } = holding(subject, key)
    using _ = hold
    await stopsAt(hold, holder)
    const hasty = subject.idempotency({ lockTimeoutMs: 1 })
    const answer = { ok: false, kind: 'in_progress', retryAfterMs: 1_000, sqlState: '55P03' }
    deepStrictEqual(await hasty.withIdempotency(scope, key, one, writeNote), answer)
    deepStrictEqual(await hasty.lookup(scope, key, one), answer)
    hold.open()
    strictEqual((await holder).kind, 'executed')
    deepStrictEqual(await subject.left(key), written)
  },
} as const satisfies Record<string, Behaviour>
