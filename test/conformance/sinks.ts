import { deepStrictEqual } from 'node:assert/strict'

import { createSink } from 'oncely/sink'

import { failureOf } from '../support/calls.ts'
import type { Behaviour } from './host.ts'

/** The receiving end of events. */
export const sinks = {
  async 'a sink applies an event once; one that failed can be delivered again'(subject) {
    const { db, host } = subject
    const key = subject.key('sink')
    const sink = createSink(db, { consumer: 'notes', schema: host.schema })
    const receive = (then: () => unknown = () => undefined) =>
      sink.receive({ id: key }, async (tx) => {
        await tx.insertInto('notes').values({ key, body: 'applied' }).execute()
        await then()
        return 'done'
      })
    await failureOf(receive(() => Promise.reject(new Error('own'))))
    deepStrictEqual((await subject.left(key)).notes, [])
    deepStrictEqual(await receive(), { kind: 'applied', value: 'done', missing: 0 })
    deepStrictEqual(await receive(), { kind: 'duplicate' })
    deepStrictEqual((await subject.left(key)).notes, ['applied'])
  },

  async 'a sink keeps the order of events that have a sequence'(subject) {
    const { db, host } = subject
    const key = subject.key('sequence')
    const sink = createSink(db, { consumer: key, schema: host.schema, gaps: 'wait' })
    const receive = (sequence: number) => {
      const place = { tenant: 't1', aggregateType: 'note', aggregateId: key, sequence }
      return sink.receive({ id: `${key} ${sequence}`, ...place }, () => sequence)
    }
    deepStrictEqual(await receive(1), { kind: 'applied', value: 1, missing: 0 })
    deepStrictEqual(await receive(3), { kind: 'gap', policy: 'wait', expected: '2' })
    deepStrictEqual(await receive(2), { kind: 'applied', value: 2, missing: 0 })
    deepStrictEqual(await receive(0), { kind: 'stale', last: '2' })
    deepStrictEqual(await sink.purge(), { purged: 0 })
  },
} as const satisfies Record<string, Behaviour>
