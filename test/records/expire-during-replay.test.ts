import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type IdempotencyOptions } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, PATIENCE_MS, scope, writeNote } from '../support/notes-host.ts'

const host = notesHost(testDatabase())
const idempotency = createIdempotency(
  host.connect({ application_name: 'expirer', lock_timeout: PATIENCE_MS }),
)

function call(key: string, by = idempotency) {
  return by.withIdempotency(scope, key, one, writeNote)
}

/** A replay that has read its record and stops before its transaction ends. */
async function replayHeld(key: string, replayLock: IdempotencyOptions['replayLock']) {
  const hold = gate()
  const db = host.connect({
    log: async ({ query }) => {
      if (/^select [^]* from "idem"\."records"/.test(query.sql)) await hold.pass()
    },
  })
  const replay = beside(call(key, createIdempotency(db, replayLock && { replayLock })))
  await stopsAt(hold, replay)
  return { replay, hold }
}

describe('expire, while a replay is under way', () => {
  it('waits for a replay that holds the record, which gets the whole response', async () => {
    await call('held')
    const { replay, hold } = await replayHeld('held', 'share')
    using _ = hold
    const expiry = beside(idempotency.expire(scope, 'held'))
    await host.untilWaiting('expirer')
    hold.open()
    deepStrictEqual(await replay, { ok: true, kind: 'replayed', value: 'note' })
    strictEqual(await expiry, true)
  })

  it("waits for it no longer than the role's lock_timeout", async () => {
    await call('bounded')
    const { replay, hold } = await replayHeld('bounded', 'share')
    using _ = hold
    const hasty = createIdempotency(host.connect({ lock_timeout: 1 }))
    const failure = await failureOf(hasty.expire(scope, 'bounded'))
    strictEqual((failure as { code: string }).code, '55P03')
    hold.open()
    strictEqual((await replay).kind, 'replayed')
    strictEqual(await hasty.expire(scope, 'bounded'), true)
  })

  it('does not wait for a replay that holds nothing, which gets the whole response too', async () => {
    await call('free')
    const { replay, hold } = await replayHeld('free', undefined)
    using _ = hold
    strictEqual(await idempotency.expire(scope, 'free'), true)
    hold.open()
    deepStrictEqual(await replay, { ok: true, kind: 'replayed', value: 'note' })
    strictEqual((await call('free')).kind, 'expired')
  })
})
