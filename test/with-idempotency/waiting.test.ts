import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type Fingerprint, type Idempotency } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  other,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const host = notesHost(testDatabase())
const first = createIdempotency(host.connect({ application_name: 'first' }))
const twin = createIdempotency(host.connect({ application_name: 'twin' }), {
  lockTimeoutMs: PATIENCE_MS,
})
const hasty = twin.withOptions({ lockTimeoutMs: 1, retryAfterMs: 1_234 })

/** Writes its note, stops at the gate and returns `value`. */
function holding(key: string, pass: () => Promise<void>, value: unknown = 'first') {
  const call = first.withIdempotency(scope, key, one, async (tx, context) => {
    await writeNote(tx, context)
    await pass()
    if (value instanceof Error) throw value
    return value
  })
  return beside(call)
}

function calling(by: Idempotency<NotesDatabase>, key: string, print: Fingerprint = one) {
  const call = by.withIdempotency(scope, key, print, async (tx, context) => {
    await writeNote(tx, context)
    return 'twin'
  })
  return beside(call)
}

describe('a twin waits while the first is at work', () => {
  it('C1: and replays once the first has committed', async () => {
    using hold = gate()
    const holder = holding('commits', hold.pass, { n: 1 })
    await stopsAt(hold, holder)
    const waiter = calling(twin, 'commits')
    await host.untilWaiting('twin')
    hold.open()
    deepStrictEqual(await holder, { ok: true, kind: 'executed', value: { n: 1 } })
    deepStrictEqual(await waiter, { ok: true, kind: 'replayed', value: { n: 1 } })
    deepStrictEqual(await host.left('commits'), written)
  })

  it('C2: and executes once the first has rolled back', async () => {
    using hold = gate()
    const failure = new Error('the card was stolen')
    const holder = holding('rolls back', hold.pass, failure)
    await stopsAt(hold, holder)
    const waiter = calling(twin, 'rolls back')
    await host.untilWaiting('twin')
    deepStrictEqual(await host.left('rolls back'), nothing)
    hold.open()
    strictEqual(await failureOf(holder), failure)
    deepStrictEqual(await waiter, { ok: true, kind: 'executed', value: 'twin' })
    deepStrictEqual(await host.left('rolls back'), written)
  })

  it('A3: and conflicts with another fingerprint, as the first has committed', async () => {
    using hold = gate()
    const holder = holding('another', hold.pass)
    await stopsAt(hold, holder)
    const waiter = calling(twin, 'another', other)
    await host.untilWaiting('twin')
    hold.open()
    deepStrictEqual(await waiter, { ok: false, kind: 'conflict' })
    strictEqual((await holder).kind, 'executed')
  })

  it('and executes with another fingerprint, as the first has rolled back', async () => {
    using hold = gate()
    const holder = holding('another after all', hold.pass, new Error('no'))
    await stopsAt(hold, holder)
    const waiter = calling(twin, 'another after all', other)
    await host.untilWaiting('twin')
    hold.open()
    await failureOf(holder)
    deepStrictEqual(await waiter, { ok: true, kind: 'executed', value: 'twin' })
  })

  it('A27: until its lock timeout: in_progress, and a replay once the first has committed', async () => {
    using hold = gate()
    const holder = holding('in time', hold.pass)
    await stopsAt(hold, holder)
    deepStrictEqual(await calling(hasty, 'in time'), {
      ok: false,
      kind: 'in_progress',
      retryAfterMs: 1_234,
      sqlState: '55P03',
    })
    // The first cannot be seen yet, so neither can that it was asked for something else.
    strictEqual((await calling(hasty, 'in time', other)).kind, 'in_progress')
    hold.open()
    await holder
    deepStrictEqual(await calling(hasty, 'in time'), { ok: true, kind: 'replayed', value: 'first' })
    deepStrictEqual(await calling(hasty, 'in time', other), { ok: false, kind: 'conflict' })
    deepStrictEqual(await host.left('in time'), written)
  })

  it('A7: however long: a claim at work is never taken over, past its replay window too', async () => {
    using hold = gate()
    const brief = createIdempotency(host.connect(), { replayWindowMs: 1 })
    const holder = beside(
      brief.withIdempotency(scope, 'long', one, async (tx, context) => {
        await hold.pass()
        return writeNote(tx, context)
      }),
    )
    await stopsAt(hold, holder)
    strictEqual((await calling(hasty, 'long')).kind, 'in_progress')
    const waiter = calling(twin, 'long')
    await host.untilWaiting('twin')
    strictEqual((await calling(hasty, 'long')).kind, 'in_progress')
    hold.open()
    strictEqual((await holder).kind, 'executed')
    deepStrictEqual(await waiter, { ok: false, kind: 'expired' })
    deepStrictEqual(await host.left('long'), written)
  })
})
