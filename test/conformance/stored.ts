import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { sql } from 'kysely'

import { one, other, scope, writeNote } from '../support/notes-host.ts'
import type { Behaviour } from './host.ts'

/** What stays in the tables, and how it goes. */
export const stored = {
  async 'events are written with the record, in their order, byte for byte'(subject) {
    const key = subject.key('events')
    // As many as it takes for an order by chance not to be theirs.
    const events = Array.from({ length: 12 }, (_, at) => ({
      type: `note.${at}`,
      aggregateType: 'note_{"',
      aggregateId: key,
      payload: { at_least: at, text: '{"a":1}', quoted: `'"\\,{}` },
      ...(at % 2 === 1 && { sequence: 9_007_199_254_740_993n + BigInt(at) }),
      ...(at % 3 === 0 && { headers: { trace_id: `"${at}"` } }),
    }))
    await subject.idempotency().withIdempotency(scope, key, one, (_, { emit }) => {
      for (const event of events) emit(event)
    })
    const rows = await subject.watcher
      .selectFrom('outbox')
      .select(['tenant', 'type', 'aggregatetype', sql<string>`payload::text`.as('payload')])
      .select([sql<string | null>`sequence::text`.as('sequence')])
      .select(sql<string>`headers::text`.as('headers'))
      .where('aggregateid', '=', key)
      .orderBy('created_at')
      .orderBy(sql`ctid`)
      .execute()
    deepStrictEqual(
      rows,
      events.map(({ type, payload, sequence, headers = {} }) => ({
        tenant: scope.tenant,
        type,
        aggregatetype: 'note_{"',
        payload: JSON.stringify(payload),
        sequence: sequence === undefined ? null : String(sequence),
        headers: JSON.stringify(headers),
      })),
    )
  },

  async 'lookup tells all that is committed, and executes nothing'(subject) {
    const key = subject.key('lookup')
    const idempotency = subject.idempotency()
    const look = (print = one) => idempotency.lookup(scope, key, print)
    deepStrictEqual(await look(), { ok: false, kind: 'absent' })
    deepStrictEqual((await subject.left(key)).records, [])
    await idempotency.withIdempotency(scope, key, one, writeNote)
    deepStrictEqual(await look(), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await look(other), { ok: false, kind: 'conflict' })
    await idempotency.expire(scope, key)
    deepStrictEqual(await look(), { ok: false, kind: 'expired' })
  },

  async 'sweep makes a tombstone of what is past its window, and purge deletes it'(subject) {
    const key = subject.key('swept')
    const kept = subject.key('kept')
    const idempotency = subject.idempotency({ tombstoneWindowMs: 60_000 })
    const call = (of = key) => idempotency.withIdempotency(scope, of, one, writeNote)
    const states = async () => (await subject.left(key)).records
    await call()
    await call(kept)
    await subject.pastWindow(key)
    ok((await idempotency.sweep({ batchSize: 1 })).cleared >= 1)
    deepStrictEqual(await states(), ['expired'])
    await idempotency.purge()
    deepStrictEqual(await states(), ['expired'])
    const long = { expired_at: sql<Date>`to_timestamp(0)` }
    await subject.watcher.updateTable('records').set(long).where('key', '=', key).execute()
    ok((await idempotency.purge({ batchSize: 1 })).purged >= 1)
    deepStrictEqual(await states(), [])
    deepStrictEqual((await subject.left(kept)).records, ['completed'])
  },

  async 'erase forgets the responses and resources of one actor, and of nobody else'(subject) {
    const key = subject.key('erased')
    const idempotency = subject.idempotency()
    const call = (actor: string) =>
      idempotency.withIdempotency({ ...scope, actor }, key, one, (_, { resource }) => {
        resource({ type: 'person', id: actor })
        return 'personal'
      })
    const [person, neighbour] = [subject.key('person'), subject.key('neighbour')]
    await call(person)
    await call(neighbour)
    strictEqual(await idempotency.erase({ tenant: scope.tenant, actor: person }), 1)
    deepStrictEqual(await call(person), { ok: false, kind: 'expired' })
    deepStrictEqual(await call(neighbour), { ok: true, kind: 'replayed', value: 'personal' })
  },
} as const satisfies Record<string, Behaviour>
