import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type EmittedEvent } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { one, scope } from '../support/notes-host.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())

const event: EmittedEvent = { type: 't', aggregateType: 'a', aggregateId: '1', payload: 1 }

const payloadsOf = async (aggregateId: string) => {
  const rows = await database.watcher
    .selectFrom('outbox')
    .where('aggregateid', '=', aggregateId)
    .orderBy('position')
    .select(sql<string>`payload::text`.as('payload'))
    .execute()
  return rows.map(({ payload }) => payload)
}

/** One call under the key that emits these events. */
const emitting = (key: string, events: readonly EmittedEvent[]) =>
  idempotency.withIdempotency(scope, key, one, (_, context) => {
    for (const each of events) context.emit(each)
    return events.length
  })

describe('the events of a call', () => {
  it('are there from the moment the call commits, and not before', async () => {
    using committing = gate()
    const call = idempotency.withIdempotency(scope, 'when', one, async (_, context) => {
      context.emit({ ...event, aggregateId: 'when' })
      await committing.pass()
    })
    await committing.reached
    deepStrictEqual(await payloadsOf('when'), [])
    committing.open()
    await call
    deepStrictEqual(await payloadsOf('when'), ['1'])
  })

  it('are in the order of emission by position, whatever their aggregates, 2,000 of them', async () => {
    const events = Array.from({ length: 2_000 }, (_, n) => ({
      ...event,
      type: 'many',
      aggregateId: `many ${(n * 7) % 13}`,
      sequence: 2_000 - n,
      payload: { n },
    }))
    const result = await emitting('many', events)
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 2_000 })
    const rows = await database.watcher
      .selectFrom('outbox')
      .where('type', '=', 'many')
      .orderBy('position')
      .select(['aggregateid', sql<string>`payload::text`.as('payload')])
      .execute()
    deepStrictEqual(
      rows,
      events.map(({ aggregateId, payload }) => ({
        aggregateid: aggregateId,
        payload: JSON.stringify(payload),
      })),
    )
  })

  it('are not emitted again by a replay', async () => {
    for (const n of [1, 2]) await emitting('once', [{ ...event, aggregateId: 'once', payload: n }])
    deepStrictEqual(await payloadsOf('once'), ['1'])
  })

  it('are taken as they are when they are emitted', async () => {
    await idempotency.withIdempotency(scope, 'taken', one, (_, { emit }) => {
      const changing = { ...event, aggregateId: 'taken', payload: { n: 1 } }
      emit(changing)
      changing.payload.n = 2
      emit(changing)
      changing.aggregateId = 'other'
    })
    deepStrictEqual(await payloadsOf('taken'), ['{"n":1}', '{"n":2}'])
  })

  it('have an identity each', async () => {
    await emitting('ids', [event, event, event])
    const rows = await database.watcher.selectFrom('outbox').select('id').execute()
    strictEqual(new Set(rows.map(({ id }) => id)).size, rows.length)
    for (const { id } of rows) match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  })
})
