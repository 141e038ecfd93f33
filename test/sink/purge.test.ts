import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { sql } from 'kysely'
import { createSink } from 'oncely/sink'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect({ schema: null })
const HOUR_MS = 3_600_000

const aged = (consumer: string, count: number) =>
  sql`insert into idem.sink (consumer, event_id, applied_at)
    select ${consumer}, 'old ' || n, now() - interval '2 hours' from generate_series(1, ${count}::int) n`.execute(
    database.watcher,
  )
const left = async () => {
  const rows = await database.watcher.selectFrom('sink').select(['consumer', 'event_id']).execute()
  return rows.map(({ consumer, event_id }) => `${consumer} ${event_id}`).sort()
}

describe('what a sink has applied', () => {
  beforeEach(() => sql`truncate idem.sink, idem.sink_sequences`.execute(database.watcher))

  it('is forgotten behind its retention, in batches, and that of others is not', async () => {
    await aged('c', 5)
    await aged('d', 1)
    const sink = createSink(db, { consumer: 'c', retentionMs: HOUR_MS })
    await sink.receive({ id: 'new' }, () => undefined)
    const batches: number[] = []
    const onBatch = (rows: number) => void batches.push(rows)
    deepStrictEqual(await sink.purge({ batchSize: 2, onBatch }), { purged: 5 })
    deepStrictEqual(batches, [2, 2, 1])
    deepStrictEqual(await left(), ['c new', 'd old 1'])
  })

  it('is kept for ever without one', async () => {
    await aged('c', 1)
    deepStrictEqual(await createSink(db, { consumer: 'c' }).purge(), { purged: 0 })
    strictEqual((await left()).length, 1)
  })

  it('E19: is stale by its sequence, though it was forgotten', async () => {
    const sink = createSink(db, { consumer: 'c', retentionMs: HOUR_MS })
    const event = { tenant: 't1', aggregateType: 'order', aggregateId: '1' }
    await sink.receive({ ...event, id: 'e1', sequence: 1 }, () => undefined)
    await sink.receive({ ...event, id: 'e2', sequence: 2 }, () => undefined)
    await sql`update idem.sink set applied_at = now() - interval '2 hours'`.execute(
      database.watcher,
    )
    deepStrictEqual(await sink.purge(), { purged: 2 })
    const again = await sink.receive({ ...event, id: 'e1', sequence: 1 }, () => undefined)
    deepStrictEqual(again, { kind: 'stale', last: '2' })
  })

  it('E19: has to be known for longer than its sender may deliver it again', () => {
    const wrong = [
      { retentionMs: HOUR_MS, senderRetryMs: HOUR_MS },
      { retentionMs: 0 },
      { gaps: 'skip' },
      { firstSequence: -1 },
      { senderRetryMs: 1.5 },
    ]
    for (const options of wrong) {
      throws(() => createSink(db, { consumer: 'c', ...options } as never), {
        code: 'invalid_options',
      })
    }
    createSink(db, { consumer: 'c', retentionMs: HOUR_MS, senderRetryMs: HOUR_MS - 1 })
  })
})
