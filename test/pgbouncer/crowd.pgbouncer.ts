import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'
import { createSink } from 'oncely/sink'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, PATIENCE_MS, scope, writeNote, written } from '../support/notes-host.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { through } from './clients.ts'

const CLIENTS = 40
const CALLS_OF_A_KEY = 10

const database = testDatabase()
const host = notesHost(database)
const single = pgBouncer(database.url, { poolSize: 1 })
const several = pgBouncer(database.url, { poolSize: 4 })

/** How many ended in which way. */
function tally(results: readonly { kind: string }[]) {
  const kinds: Record<string, number> = {}
  for (const { kind } of results) kinds[kind] = (kinds[kind] ?? 0) + 1
  return kinds
}

for (const [size, pooler] of [
  [1, single],
  [4, several],
] as const) {
  const keys = Array.from({ length: CLIENTS }, (_, at) => `key ${at} (${size})`)
  const rounds = Array.from({ length: CALLS_OF_A_KEY }, () => keys).flat()

  describe(`${CLIENTS} clients at once on a server pool of ${size}`, { timeout: 60_000 }, () => {
    it(`C13: each key executes once, and all others replay it (${size})`, async () => {
      const db = through(pooler, host, { max: CLIENTS })
      const idempotency = createIdempotency(db, { lockTimeoutMs: PATIENCE_MS })
      const results = await Promise.all(
        rounds.map((key) => idempotency.withIdempotency(scope, key, one, writeNote)),
      )
      deepStrictEqual(tally(results), {
        executed: keys.length,
        replayed: rounds.length - keys.length,
      })
      for (const key of keys) deepStrictEqual(await host.left(key), written)
    })

    it(`C13: the sink applies each event once (${size})`, async () => {
      const sink = createSink(through(pooler, host, { max: CLIENTS }), { consumer: 'crowd' })
      const receipts = await Promise.all(
        rounds.map((id) =>
          sink.receive({ id }, (tx) =>
            tx
              .insertInto('notes')
              .values({ key: `sink ${id}`, body: 'applied' })
              .execute(),
          ),
        ),
      )
      deepStrictEqual(tally(receipts), {
        applied: keys.length,
        duplicate: rounds.length - keys.length,
      })
      for (const key of keys) deepStrictEqual((await host.left(`sink ${key}`)).notes, ['applied'])
    })
  })
}

describe('twins while the first is at work', { timeout: 60_000 }, () => {
  it('C13: on several server connections wait for its lock, as long as they may', async () => {
    using hold = gate()
    const first = createIdempotency(through(several, host))
    const twins = createIdempotency(
      through(several, host, { max: CLIENTS, application_name: 'twins' }),
      { lockTimeoutMs: PATIENCE_MS },
    )
    const call = (by: typeof first) =>
      beside(
        by.withIdempotency(scope, 'lock', one, async (tx, context) => {
          await hold.pass()
          return writeNote(tx, context)
        }),
      )
    const holder = call(first)
    await stopsAt(hold, holder)
    const hasty = Array.from({ length: CLIENTS }, () =>
      call(twins.withOptions({ lockTimeoutMs: 1 })),
    )
    deepStrictEqual(tally(await Promise.all(hasty)), { in_progress: CLIENTS })

    const patient = Array.from({ length: CLIENTS }, () => call(twins))
    await host.untilWaiting('twins', 3)
    await several.untilQueued(CLIENTS - 3)
    hold.open()
    strictEqual((await holder).kind, 'executed')
    deepStrictEqual(tally(await Promise.all(patient)), { replayed: CLIENTS })
    deepStrictEqual(await host.left('lock'), written)
  })

  // Before BEGIN has come to a server there is no transaction for a bound to be local to.
  it('C13: on a single one wait for that, however short their lock timeout, and replay', async () => {
    using hold = gate()
    const hasty = createIdempotency(through(single, host, { max: CLIENTS }), { lockTimeoutMs: 1 })
    const call = () =>
      beside(
        hasty.withIdempotency(scope, 'queue', one, async (tx, context) => {
          await hold.pass()
          return writeNote(tx, context)
        }),
      )
    const holder = call()
    await stopsAt(hold, holder)
    const twins = Array.from({ length: CLIENTS - 1 }, call)
    await single.untilQueued(CLIENTS - 1)
    hold.open()
    strictEqual((await holder).kind, 'executed')
    deepStrictEqual(tally(await Promise.all(twins)), { replayed: CLIENTS - 1 })
    deepStrictEqual(await host.left('queue'), written)
  })
})
