import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, one, scope, writeNote } from '../support/notes-host.ts'
import { insertDue, insertTombstones, keysIn, numbered } from '../support/sweeping.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

const through = () =>
  createIdempotency(host.connect({ connectionString: proxy.url(), max: 2 }), {
    tombstoneWindowMs: 1_000,
  })

/** The server hears a little later that a client is gone; until then its rows are passed over. */
async function untilEnded(): Promise<void> {
  await database.watcher.selectFrom('records').select('key').forUpdate().execute()
}

beforeEach(() => database.watcher.deleteFrom('records').execute())

describe('COMMIT was sent and its answer lost: outcome_unknown, and it is safe to repeat', () => {
  for (const [fate, left] of [
    ['lost before', 2],
    ['lost behind', 0],
  ] as const) {
    /** The first batch is committed before any is lost. */
    const secondIsLost = () => {
      let batches = 0
      return {
        batchSize: 2,
        onBatch() {
          batches += 1
          if (batches === 1) proxy.meddle(fate)
        },
      }
    }

    it(`of sweep, ${fate}: the batches before it stay, and the next one goes on`, async () => {
      const idempotency = through()
      await insertDue(database, numbered('key', 4))
      await rejects(idempotency.sweep(secondIsLost()), { code: 'outcome_unknown' })
      strictEqual((await keysIn(database, 'completed')).length, left)
      await untilEnded()
      deepStrictEqual(await idempotency.sweep(), { cleared: left })
      deepStrictEqual(await keysIn(database, 'expired'), numbered('key', 4))
    })

    it(`of purge, ${fate}: the batches before it stay, and the next one goes on`, async () => {
      const idempotency = through()
      await insertTombstones(database, numbered('key', 4))
      await rejects(idempotency.purge(secondIsLost()), { code: 'outcome_unknown' })
      strictEqual((await keysIn(database, 'expired')).length, left)
      await untilEnded()
      deepStrictEqual(await idempotency.purge(), { purged: left })
      deepStrictEqual(await keysIn(database, 'expired'), [])
    })

    it(`of expire, ${fate}: repeated, it says whether there was something left to do`, async () => {
      const idempotency = through()
      const call = () => idempotency.withIdempotency(scope, fate, one, writeNote)
      await call()
      proxy.meddle(fate)
      await rejects(idempotency.expire(scope, fate), { code: 'outcome_unknown' })
      strictEqual(await idempotency.expire(scope, fate), left > 0)
      strictEqual((await call()).kind, 'expired')
    })
  }
})
