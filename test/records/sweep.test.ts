import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'

import { createIdempotency, isOncelyError, type SweepOptions } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { notesHost, one, other, scope, writeNote } from '../support/notes-host.ts'
import { insertDue, insertTombstones, keysIn, numbered } from '../support/sweeping.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())
const records = () => database.watcher

beforeEach(() => records().deleteFrom('records').execute())

/** Executes the first time, with a resource. */
function call(key: string, print = one) {
  return idempotency.withIdempotency(scope, key, print, (tx, context) => {
    context.resource({ type: 'note', id: key })
    return writeNote(tx, context)
  })
}

function refuse(key: string) {
  return idempotency.withIdempotency(scope, key, one, (_tx, context) => context.reject('no'))
}

function recordOf(key: string) {
  return records()
    .selectFrom('records')
    .selectAll()
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
}

async function windowEnds(key: string): Promise<void> {
  const past = { replay_until: new Date(0) }
  await records().updateTable('records').set(past).where('key', '=', key).execute()
}

describe('sweep', () => {
  it('makes tombstones of responses and of refusals, which keep all but the response', async () => {
    await call('done')
    await refuse('refused')
    await windowEnds('done')
    await windowEnds('refused')
    const before = [await recordOf('done'), await recordOf('refused')]
    deepStrictEqual(await idempotency.sweep(), { cleared: 2 })
    for (const [index, key] of ['done', 'refused'].entries()) {
      const after = await recordOf(key)
      const changed = { state: 'expired', response: null, expired_at: after.expired_at }
      deepStrictEqual(after, { ...before[index], ...changed })
      notStrictEqual(after.expired_at, null)
    }
  })

  it('A31: leaves what answers a late retry: expired, or conflict, and nothing runs', async () => {
    await call('late')
    await windowEnds('late')
    await idempotency.sweep()
    deepStrictEqual(await call('late'), {
      ok: false,
      kind: 'expired',
      resource: { type: 'note', id: 'late' },
    })
    deepStrictEqual(await call('late', other), { ok: false, kind: 'conflict' })
    const { notes } = await host.left('late')
    deepStrictEqual(notes, ['note'])
    // Not even purge deletes it, unless somebody has said after how long.
    deepStrictEqual(await idempotency.purge(), { purged: 0 })
    strictEqual((await call('late')).kind, 'expired')
  })

  it('clears what is past its window, and nothing that is not, and nothing twice', async () => {
    await insertDue(database, ['now', 'ago', 'soon'], (index) => [0, 3_600, -60][index] ?? 0)
    await insertTombstones(database, ['cleared before'])
    const tombstone = await recordOf('cleared before')
    deepStrictEqual(await idempotency.sweep(), { cleared: 2 })
    deepStrictEqual(await keysIn(database, 'completed'), ['soon'])
    deepStrictEqual(await recordOf('cleared before'), tombstone)
    deepStrictEqual(await idempotency.sweep(), { cleared: 0 })
  })

  for (const now of [0, Date.UTC(2199, 0)]) {
    it(`goes by the database's clock when the client's says ${new Date(now).toISOString()}`, async () => {
      await insertDue(database, ['due', 'not due'], (index) => (index === 0 ? 60 : -60))
      mock.timers.enable({ apis: ['Date'], now })
      try {
        deepStrictEqual(await idempotency.sweep(), { cleared: 1 })
      } finally {
        mock.timers.reset()
      }
      deepStrictEqual(await keysIn(database, 'completed'), ['not due'])
    })
  }

  it('has nothing to do in an empty table', async () => {
    deepStrictEqual(await idempotency.sweep(), { cleared: 0 })
  })

  it('is given by every instance, and keeps to its schema', async () => {
    await insertDue(database, ['due'])
    const elsewhere = await failureOf(idempotency.withOptions({ schema: 'elsewhere' }).sweep())
    strictEqual(isOncelyError(elsewhere) && elsewhere.code, 'schema_missing')
    deepStrictEqual(await idempotency.withOptions({}).sweep(), { cleared: 1 })
  })
})

describe('a batch', () => {
  const batchesOf = async (options: SweepOptions, by = idempotency) => {
    const batches: number[] = []
    const { cleared } = await by.sweep({ ...options, onBatch: (rows) => batches.push(rows) })
    return [cleared, batches]
  }

  it('has as many records as it may, and the first that is not full is the last', async () => {
    await insertDue(database, numbered('key', 25))
    deepStrictEqual(await batchesOf({ batchSize: 10 }), [25, [10, 10, 5]])
    await insertDue(database, numbered('more', 20))
    deepStrictEqual(await batchesOf({ batchSize: 10 }), [20, [10, 10, 0]])
    await insertDue(database, numbered('default', 25))
    deepStrictEqual(await batchesOf({}), [25, [25]])
  })

  it('is no larger under a nested loop', async () => {
    await insertDue(database, numbered('key', 300))
    const off = ['hashjoin', 'mergejoin', 'material', 'memoize']
    const plan = off.map((name) => `-c enable_${name}=off`).join(' ')
    const nested = createIdempotency(host.connect({ options: plan }))
    deepStrictEqual(await batchesOf({ batchSize: 100 }, nested), [300, [100, 100, 100, 0]])
  })

  it('takes those first that have been due for longest', async () => {
    await insertDue(database, ['2nd', '4th', '1st', '3rd'], (index) => [30, 10, 40, 20][index] ?? 0)
    const stop = new AbortController()
    const onBatch = () => {
      stop.abort()
    }
    await idempotency.sweep({ batchSize: 2, signal: stop.signal, onBatch })
    deepStrictEqual(await keysIn(database, 'expired'), ['1st', '2nd'])
  })
})

describe('the options of sweep and purge', () => {
  const wrong = [
    ...[0, -1, 1.5, 10_001, NaN, '10', null, 10n].map((batchSize) => ({ batchSize })),
    ...[null, {}, new AbortController()].map((signal) => ({ signal })),
    ...[null, 'log'].map((onBatch) => ({ onBatch })),
    { batch: 10 },
    null,
    'all',
  ]
  for (const method of ['sweep', 'purge'] as const) {
    it(`of ${method} are checked before anything is done`, async () => {
      await insertDue(database, ['due'])
      for (const options of wrong) {
        const failure = await failureOf(idempotency[method](options as never))
        strictEqual(isOncelyError(failure) && failure.code, 'invalid_options')
      }
      deepStrictEqual(await keysIn(database, 'completed'), ['due'])
    })
  }

  it('take a batch of 1 and of 10,000', async () => {
    await insertDue(database, ['one', 'two'])
    deepStrictEqual(await idempotency.sweep({ batchSize: 1 }), { cleared: 2 })
    deepStrictEqual(await idempotency.sweep({ batchSize: 10_000 }), { cleared: 0 })
  })
})
