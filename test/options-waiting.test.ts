import { deepStrictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from './support/database.ts'
import { gate } from './support/gate.ts'
import { untilWaiting } from './support/waiting.ts'

const database = testDatabase()
const db = database.connect()
const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
const one = fingerprint({ n: 1 }, { version: 1 })
const MOST = 2_147_483_647

/** Has a key held by a twin while `during` runs. */
async function whileHeld<T>(key: string, during: () => Promise<T>): Promise<T> {
  using held = gate()
  const holder = createIdempotency(db).withIdempotency(scope, key, one, async () => {
    await held.pass()
    return 'first'
  })
  await held.reached
  const outcome = await during()
  held.open()
  await holder
  return outcome
}

describe('lockTimeoutMs and retryAfterMs', () => {
  for (const [options, retryAfterMs] of [
    [{ lockTimeoutMs: 1 }, 1_000],
    [{ lockTimeoutMs: 1, retryAfterMs: 1 }, 1],
    [{ lockTimeoutMs: 1, retryAfterMs: MOST }, MOST],
  ] as const) {
    it(`a claim that may not wait is told to come back: ${JSON.stringify(options)}`, async () => {
      const key = `held ${retryAfterMs}`
      const call = () => createIdempotency(db, options).withIdempotency(scope, key, one, () => 'no')
      deepStrictEqual(await whileHeld(key, call), {
        ok: false,
        kind: 'in_progress',
        retryAfterMs,
        sqlState: '55P03',
      })
    })
  }

  it('a claim that may wait for long gets the answer of the twin it waited for', async () => {
    const patient = createIdempotency(database.connect({ application_name: 'patient' }), {
      lockTimeoutMs: MOST,
    })
    const [waiting] = await whileHeld('long', async () => {
      const call = patient.withIdempotency(scope, 'long', one, () => 'second')
      await untilWaiting(database.watcher as never, 'patient')
      return [call]
    })
    deepStrictEqual(await waiting, { ok: true, kind: 'replayed', value: 'first' })
  })
})
