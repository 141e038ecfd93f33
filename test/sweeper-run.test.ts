import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'

import { createIdempotency, createSweeper, type SweepCounts, type SweeperOptions } from 'oncely'

import { beside } from './support/calls.ts'
import { testDatabase } from './support/database.ts'
import { insertDue, keysIn, numbered } from './support/sweeping.ts'

const database = testDatabase()

function aborting(stop: AbortController) {
  return () => {
    stop.abort()
  }
}

/** A sweeper whose rounds do and fail as told, one after the other, then do nothing. */
function scripted(script: (SweepCounts | Error)[], options: SweeperOptions) {
  let purged = 0
  const rounds = { begun: 0 }
  const sweeper = createSweeper(
    {
      sweep() {
        rounds.begun += 1
        const next = script.shift() ?? { cleared: 0, purged: 0 }
        if (next instanceof Error) return Promise.reject(next)
        purged = next.purged
        return Promise.resolve({ cleared: next.cleared })
      },
      purge: () => Promise.resolve({ purged }),
    },
    options,
  )
  return { sweeper, rounds }
}

const idle = { cleared: 0, purged: 0 }

describe('run', () => {
  it('goes on until its signal aborts, which also ends the pause, and leaves nothing behind', async () => {
    const timersBefore = timers()
    const stop = new AbortController()
    const told = Promise.withResolvers<SweepCounts>()
    const { sweeper } = scripted([{ cleared: 1, purged: 0 }], {
      intervalMs: 86_400_000,
      onRun: told.resolve,
    })
    const running = beside(sweeper.run({ signal: stop.signal }))
    deepStrictEqual(await told.promise, { cleared: 1, purged: 0 })
    await untilPausing(stop.signal)
    stop.abort()
    await running
    strictEqual(getEventListeners(stop.signal, 'abort').length, 0)
    strictEqual(timers(), timersBefore)
  })

  it('does nothing when the signal has aborted before', async () => {
    const { sweeper, rounds } = scripted([], {})
    await sweeper.run({ signal: AbortSignal.abort() })
    strictEqual(rounds.begun, 0)
  })

  it('goes again at once behind a round that filled a batch, and waits behind another', async () => {
    const stop = new AbortController()
    const told: SweepCounts[] = []
    const script = [
      { cleared: 10, purged: 0 },
      { cleared: 0, purged: 25 },
      { cleared: 9, purged: 9 },
    ]
    // A day long, so that a pause too many would be seen by the test's own time-out.
    const { sweeper, rounds } = scripted([...script], {
      intervalMs: 86_400_000,
      batchSize: 10,
      onRun: (counts) => {
        if (told.push(counts) < 3) return
        untilPausing(stop.signal).then(aborting(stop), aborting(stop))
      },
    })
    await sweeper.run({ signal: stop.signal })
    deepStrictEqual(told, script)
    strictEqual(rounds.begun, 3)
  })

  it('outlives the failure of a round, which onError is given', async () => {
    const stop = new AbortController()
    const wrong = new Error('wrong')
    const errors: unknown[] = []
    const { sweeper } = scripted([wrong, idle], {
      intervalMs: 1,
      onError: (error) => errors.push(error),
      onRun: aborting(stop),
    })
    await sweeper.run({ signal: stop.signal })
    deepStrictEqual(errors, [wrong])
  })

  it('outlives it without onError too, and the process is warned', async () => {
    const stop = new AbortController()
    const wrong = new Error('nobody listens to this')
    const warned = once(process, 'warning')
    const { sweeper } = scripted([wrong, idle], { intervalMs: 1, onRun: aborting(stop) })
    await sweeper.run({ signal: stop.signal })
    deepStrictEqual(await warned, [wrong])
  })

  it('outlives what onRun throws, and ends by what onError throws', async () => {
    const own = new Error('own')
    const thrower = (error: unknown) => {
      throw error
    }
    const { signal } = new AbortController()
    const { sweeper } = scripted([], {
      onRun: () => {
        throw own
      },
      onError: thrower,
    })
    await rejects(sweeper.run({ signal }), own)
    strictEqual(getEventListeners(signal, 'abort').length, 0)
  })

  it('commits the batch under way when the signal aborts', async () => {
    await insertDue(database, numbered('due', 6))
    const stop = new AbortController()
    const told: SweepCounts[] = []
    const sweeper = createSweeper(createIdempotency(database.connect()), {
      batchSize: 2,
      onBatch: aborting(stop),
      onRun: (counts) => told.push(counts),
    })
    await sweeper.run({ signal: stop.signal })
    deepStrictEqual(told, [{ cleared: 2, purged: 0 }])
    strictEqual((await keysIn(database, 'completed')).length, 4)
  })
})

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

/** A pause is the only one that listens to the signal of a scripted sweeper. */
async function untilPausing(signal: AbortSignal): Promise<void> {
  while (getEventListeners(signal, 'abort').length === 0) await setImmediate()
}
