import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
const one = fingerprint({ note: 1 }, { version: 1 })
const other = fingerprint({ note: 2 }, { version: 1 })

describe('the four branches', () => {
  const idempotency = createIdempotency(database.connect())

  it('new: executes, commits and returns what the function returned', async () => {
    const result = await idempotency.withIdempotency(scope, 'new', one, () => ({ n: 1 }))
    deepStrictEqual(result, { ok: true, kind: 'executed', value: { n: 1 } })
  })

  it('C1: replay: returns the first answer and does not run', async () => {
    let runs = 0
    const call = () =>
      idempotency.withIdempotency(scope, 'replay', one, () => {
        runs += 1
        return { run: runs }
      })
    await call()
    deepStrictEqual(await call(), { ok: true, kind: 'replayed', value: { run: 1 } })
    strictEqual(runs, 1)
  })

  it('A3: conflict: another fingerprint under the key learns nothing', async () => {
    await idempotency.withIdempotency(scope, 'conflict', one, () => 'secret')
    const result = await idempotency.withIdempotency(scope, 'conflict', other, () => 'never')
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })

  it('expired: a key past its window does not reopen', async () => {
    const brief = idempotency.withOptions({ replayWindowMs: 1 })
    await brief.withIdempotency(scope, 'expired', one, () => 1)
    await database.watcher
      .updateTable('records')
      .set({ replay_until: new Date(0) })
      .where('key', '=', 'expired')
      .execute()
    const result = await brief.withIdempotency(scope, 'expired', one, () => 2)
    deepStrictEqual(result, { ok: false, kind: 'expired' })
  })
})
