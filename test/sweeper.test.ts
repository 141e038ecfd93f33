import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { createIdempotency, createSweeper, type SweepCounts } from 'oncely'

import { testDatabase } from './support/database.ts'
import { insertDue, insertTombstones, keysIn, numbered } from './support/sweeping.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect(), { tombstoneWindowMs: 60_000 })

beforeEach(() => database.watcher.deleteFrom('records').execute())

const idle = { cleared: 0, purged: 0 }

describe('runOnce', () => {
  it('sweeps, then purges, and says of how many; a second time there is nothing', async () => {
    await insertDue(database, numbered('due', 3))
    await insertTombstones(database, numbered('old', 2), () => 61)
    const batches: SweepCounts[] = []
    const sweeper = createSweeper(idempotency, {
      batchSize: 2,
      onBatch: (counts) => batches.push(counts),
    })
    deepStrictEqual(await sweeper.runOnce(), { cleared: 3, purged: 2 })
    deepStrictEqual(batches, [
      { cleared: 2, purged: 0 },
      { cleared: 1, purged: 0 },
      { cleared: 0, purged: 2 },
      { cleared: 0, purged: 0 },
    ])
    deepStrictEqual(await sweeper.runOnce(), idle)
    deepStrictEqual(await keysIn(database, 'expired'), numbered('due', 3))
  })

  it('deletes nothing without a window', async () => {
    await insertTombstones(database, ['old'], () => 1e9)
    const sweeper = createSweeper(createIdempotency(database.connect()))
    deepStrictEqual(await sweeper.runOnce(), idle)
  })

  it('ends between two batches when its signal aborts', async () => {
    await insertDue(database, numbered('due', 6))
    const stop = new AbortController()
    const onBatch = () => {
      stop.abort()
    }
    const sweeper = createSweeper(idempotency, { batchSize: 2, onBatch })
    deepStrictEqual(await sweeper.runOnce({ signal: stop.signal }), { cleared: 2, purged: 0 })
  })

  it('throws what went wrong', async () => {
    const wrong = new Error('wrong')
    const failing = { sweep: () => Promise.reject(wrong), purge: () => Promise.reject(wrong) }
    await rejects(createSweeper(failing).runOnce(), wrong)
  })
})

describe('createSweeper', () => {
  it('checks what it is given', async () => {
    const refused = { name: 'OncelyError', code: 'invalid_options' }
    for (const options of [
      ...[0, 1.5, 86_400_001, '60', NaN].map((intervalMs) => ({ intervalMs })),
      ...[0, 10_001, null].map((batchSize) => ({ batchSize })),
      { onRun: 'log' },
      { onBatch: 1 },
      { onError: null },
      { interval: 1 },
      null,
    ]) {
      throws(() => createSweeper(idempotency, options as never), refused)
    }
    for (const given of [undefined, {}, { signal: 'stop' }, { signal: undefined }]) {
      await rejects(createSweeper(idempotency).run(given as never), refused)
    }
    await rejects(createSweeper(idempotency).runOnce({ signal: 1 as never }), refused)
    for (const intervalMs of [1, 86_400_000]) createSweeper(idempotency, { intervalMs })
  })

  it('gives something frozen', () => {
    strictEqual(Object.isFrozen(createSweeper(idempotency)), true)
  })

  it('refuses what is no instance, and options of a round that there are not', async () => {
    for (const none of [undefined, null, 5, {}] as never[]) {
      throws(() => createSweeper(none), { code: 'invalid_options' })
    }
    const sweeper = createSweeper(idempotency)
    for (const options of [null, 5, { once: true }] as never[]) {
      await rejects(sweeper.runOnce(options), { code: 'invalid_options' })
    }
  })
})
