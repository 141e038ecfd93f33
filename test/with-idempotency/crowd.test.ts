import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type Idempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const CALLERS = 50

const host = notesHost(testDatabase())
const patient = createIdempotency(host.connect({ application_name: 'crowd', max: CALLERS }), {
  lockTimeoutMs: PATIENCE_MS,
})
const hasty = patient.withOptions({ lockTimeoutMs: 1 })

/** All at once on one key, each on a connection of its own; whoever claims it stops at the gate. */
function crowd(by: Idempotency<NotesDatabase>, key: string, pass: () => Promise<void>) {
  let runs = 0
  const calls = Array.from({ length: CALLERS }, () =>
    beside(
      by.withIdempotency(scope, key, one, async (tx, context) => {
        runs += 1
        await writeNote(tx, context)
        await pass()
        return { run: runs }
      }),
    ),
  )
  return { calls, runs: () => runs }
}

/** How many calls ended in which way. */
function tally(results: readonly { kind: string }[]) {
  return Object.fromEntries(
    Object.entries(Object.groupBy(results, ({ kind }) => kind)).map(([kind, of]) => [
      kind,
      of?.length,
    ]),
  )
}

describe('fifty callers at once on one key', () => {
  it('A34: that wait: one executes, all others replay it', async () => {
    using hold = gate()
    const { calls, runs } = crowd(patient, 'patient', hold.pass)
    await stopsAt(hold, Promise.all(calls))
    await host.untilWaiting('crowd', CALLERS - 1)
    hold.open()
    const results = await Promise.all(calls)
    deepStrictEqual(tally(results), { executed: 1, replayed: CALLERS - 1 })
    for (const result of results) deepStrictEqual(result.ok && result.value, { run: 1 })
    strictEqual(runs(), 1)
    deepStrictEqual(await host.left('patient'), written)
  })

  it('A34: that do not wait: one executes, all others hear in_progress, and then all replay it', async () => {
    using hold = gate()
    const { calls } = crowd(hasty, 'hasty', hold.pass)
    await stopsAt(hold, Promise.all(calls))
    // The one that claimed the key cannot end before the gate opens, so these are the others.
    await untilSettled(calls, CALLERS - 1)
    hold.open()
    deepStrictEqual(tally(await Promise.all(calls)), { executed: 1, in_progress: CALLERS - 1 })

    const again = crowd(patient, 'hasty', hold.pass)
    deepStrictEqual(tally(await Promise.all(again.calls)), { replayed: CALLERS })
    strictEqual(again.runs(), 0)
    deepStrictEqual(await host.left('hasty'), written)
  })
})

async function untilSettled(calls: readonly Promise<unknown>[], count: number): Promise<void> {
  const enough = Promise.withResolvers<undefined>()
  let settled = 0
  for (const call of calls) {
    void call.finally(() => {
      settled += 1
      if (settled === count) enough.resolve(undefined)
    })
  }
  await enough.promise
}
