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
    deepStrictEqual(await receive(), { kind: 'applied', value: 'done' })
    deepStrictEqual(await receive(), { kind: 'duplicate' })
    deepStrictEqual((await subject.left(key)).notes, ['applied'])
  },
} as const satisfies Record<string, Behaviour>
