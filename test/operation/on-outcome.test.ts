import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type OutcomeReport } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, other, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe('onOutcome', () => {
  it('is told of every ending: kind, scope, times, attempts', async () => {
    const reports: OutcomeReport[] = []
    const idempotency = createIdempotency(host.connect(), {
      onOutcome: (report) => reports.push(report),
    })
    const boom = new Error('boom')
    await idempotency.withIdempotency(scope, 'k', one, writeNote)
    await idempotency.withIdempotency(scope, 'k', one, writeNote)
    await idempotency.withIdempotency(scope, 'k', other, writeNote)
    await idempotency.withIdempotency(scope, 'r', one, (_, { reject }) => reject(1))
    await rejects(
      idempotency.withIdempotency(scope, 'f', one, () => Promise.reject(boom)),
      boom,
    )
    deepStrictEqual(
      reports.map(({ kind, attempts, scope: of, error }) => [kind, attempts, of, error]),
      [
        ['executed', 1, scope, undefined],
        ['replayed', 1, scope, undefined],
        ['conflict', 1, scope, undefined],
        ['rejected', 1, scope, undefined],
        ['failed', 1, scope, boom],
      ],
    )
    strictEqual(
      reports.every(({ waitMs, durationMs }) => waitMs > 0 && waitMs <= durationMs),
      true,
    )
  })

  it('has the wait for a twin in waitMs, and the function not', async () => {
    using running = gate()
    const reports: OutcomeReport[] = []
    const first = beside(
      createIdempotency(host.connect()).withIdempotency(scope, 'w', one, async (tx, context) => {
        await running.pass()
        return writeNote(tx, context)
      }),
    )
    await running.reached
    const waiting = createIdempotency(host.connect({ application_name: 'twin' }), {
      lockTimeoutMs: 20_000,
      onOutcome: (report) => reports.push(report),
    })
    const from = performance.now()
    const twin = beside(waiting.withIdempotency(scope, 'w', one, () => 1))
    await host.untilWaiting('twin')
    const waited = performance.now() - from
    running.open()
    await Promise.all([first, twin])
    strictEqual(Number(reports[0]?.waitMs) > waited / 2, true)
  })

  it('changes nothing by what it throws, or by a promise that fails', async () => {
    const throwing = [
      () => {
        throw new Error('metrics')
      },
      () => Promise.reject(new Error('metrics')),
    ]
    for (const [index, onOutcome] of throwing.entries()) {
      const idempotency = createIdempotency(host.connect(), { onOutcome })
      strictEqual(
        (await idempotency.withIdempotency(scope, `t${index}`, one, () => 1)).kind,
        'executed',
      )
    }
  })
})
