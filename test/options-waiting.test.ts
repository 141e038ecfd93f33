import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from './support/database.ts'
import { gate } from './support/gate.ts'

const database = testDatabase()
const db = database.connect()
const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
const one = fingerprint({ n: 1 }, { version: 1 })
const MOST = 2_147_483_647

/** Whether a session has waited for a lock for longer than `lockTimeoutMs` lets it by default. */
async function hasWaitedLong(applicationName: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks join pg_stat_activity using (pid)
    where application_name = ${applicationName} and not granted
      and waitstart < clock_timestamp() - interval '300 milliseconds'`.execute(database.watcher)
  return rows.length > 0
}

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
      const ended = call.then(() => true)
      while (!(await hasWaitedLong('patient'))) {
        strictEqual(await Promise.race([ended, Promise.resolve(false)]), false, 'it did not wait')
      }
      return [call]
    })
    deepStrictEqual(await waiting, { ok: true, kind: 'replayed', value: 'first' })
  })
})
