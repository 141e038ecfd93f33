import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type IdempotencyOptions } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { type Gate, gate } from '../support/gate.ts'
import { notesHost, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())

/** The window in the test below: longer than one statement takes on any machine, and waited for. */
const WINDOW_MS = 1_000

function call(key: string, by = idempotency) {
  return by.withIdempotency(scope, key, one, writeNote)
}

/** A replay that stops with its transaction open: before it reads its record, then behind. */
function replayer(key: string, replayLock: IdempotencyOptions['replayLock'] = 'share') {
  const before = gate()
  const behind = gate()
  const stops: [RegExp, Gate][] = [
    [/^insert into "idem"\."records"/, before],
    [/^select [^]* from "idem"\."records"/, behind],
  ]
  const db = host.connect({
    log: async ({ query }) => {
      for (const [statement, stop] of stops) if (statement.test(query.sql)) await stop.pass()
    },
  })
  const replay = beside(call(key, createIdempotency(db, { replayLock })))
  const open = () => {
    before.open()
    behind.open()
  }
  return { replay, before, behind, open, [Symbol.dispose]: open }
}

async function windowEndsIn(key: string, ms: number): Promise<void> {
  const end = sql<Date>`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const records = database.watcher.updateTable('records').set({ replay_until: end })
  await records.where('key', '=', key).execute()
}

async function untilWindowEnded(key: string): Promise<void> {
  const ended = sql<boolean>`replay_until <= clock_timestamp()`.as('ended')
  const records = database.watcher.selectFrom('records').select(ended).where('key', '=', key)
  while (!(await records.executeTakeFirstOrThrow()).ended);
}

describe('a record whose replays overlap without end', () => {
  it('is swept once those are over that locked it before the end of its window', async () => {
    await call('storm')
    using first = replayer('storm')
    using second = replayer('storm')
    await stopsAt(first.before, first.replay)
    await stopsAt(second.before, second.replay)
    await windowEndsIn('storm', WINDOW_MS)
    for (const { before, behind, replay } of [first, second]) {
      before.open()
      await stopsAt(behind, replay)
    }
    await untilWindowEnded('storm')
    deepStrictEqual(await idempotency.sweep(), { cleared: 0 })

    // From here on there is no moment without a replay that has read the record and not ended.
    const later: ReturnType<typeof replayer>[] = []
    using _ = {
      [Symbol.dispose]: () => {
        for (const { open } of later) open()
      },
    }
    const join = async () => {
      const next = replayer('storm')
      later.push(next)
      next.before.open()
      await stopsAt(next.behind, next.replay)
    }
    await join()
    for (const { open, replay } of [first, second]) {
      open()
      strictEqual((await replay).kind, 'replayed')
      await join()
    }
    deepStrictEqual(await idempotency.sweep(), { cleared: 1 })
    await join()
    for (const { open, replay } of later) {
      open()
      strictEqual((await replay).kind, 'expired')
    }
  })
})

describe('sweep, while a replay is under way', () => {
  it('A31: passes over a record that the replay holds, and clears the others', async () => {
    await call('held')
    await call('free')
    using holder = replayer('held')
    await stopsAt(holder.before, holder.replay)
    await windowEndsIn('held', WINDOW_MS)
    holder.before.open()
    await stopsAt(holder.behind, holder.replay)
    await windowEndsIn('free', -1)
    await untilWindowEnded('held')
    deepStrictEqual(await idempotency.sweep(), { cleared: 1 })
    holder.open()
    deepStrictEqual(await holder.replay, { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await idempotency.sweep(), { cleared: 1 })
  })

  it('A31: does not wait for one that holds nothing, which gets the whole response', async () => {
    await call('unlocked')
    using reader = replayer('unlocked', 'none')
    reader.before.open()
    await stopsAt(reader.behind, reader.replay)
    await windowEndsIn('unlocked', -1)
    deepStrictEqual(await idempotency.sweep(), { cleared: 1 })
    reader.open()
    deepStrictEqual(await reader.replay, { ok: true, kind: 'replayed', value: 'note' })
    strictEqual((await call('unlocked')).kind, 'expired')
  })
})
