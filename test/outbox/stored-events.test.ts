import { deepStrictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type EmittedEvent } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { one, scope } from '../support/notes-host.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect())

const event: EmittedEvent = { type: 't', aggregateType: 'a', aggregateId: '1', payload: 1 }

/** What is committed of one aggregate, in the order in which it is to be published. */
const committed = (aggregateId: string) =>
  database.watcher
    .selectFrom('outbox')
    .where('aggregateid', '=', aggregateId)
    .orderBy('position')
    .select(['tenant', 'type', 'aggregatetype', 'sequence'])
    .select([sql<string>`payload::text`.as('payload'), sql<string>`headers::text`.as('headers')])
    .execute()

/** One call under the key that emits these events. */
const emitting = (key: string, events: readonly EmittedEvent[]) =>
  idempotency.withIdempotency(scope, key, one, (_, context) => {
    for (const each of events) context.emit(each)
    return events.length
  })

describe('an event in the outbox', () => {
  it('is committed as it was given, with the tenant of the scope', async () => {
    const placed = {
      type: 'order.placed',
      aggregateType: 'order',
      aggregateId: 'given',
      payload: { b: 1, a: [new Date(0)], gone: undefined },
      sequence: 7,
      headers: { 'x-trace': 'abc', locale: 'de' },
    }
    await emitting('given', [placed])
    deepStrictEqual(await committed('given'), [
      {
        tenant: scope.tenant,
        type: 'order.placed',
        aggregatetype: 'order',
        sequence: '7',
        payload: '{"b":1,"a":["1970-01-01T00:00:00.000Z"]}',
        headers: '{"x-trace":"abc","locale":"de"}',
      },
    ])
  })

  it('has no sequence and no headers unless they are given', async () => {
    const bare = { ...event, aggregateId: 'bare' }
    await emitting('bare', [bare, { ...bare, sequence: undefined, headers: undefined }])
    deepStrictEqual(
      (await committed('bare')).map(({ sequence, headers }) => [sequence, headers]),
      [
        [null, '{}'],
        [null, '{}'],
      ],
    )
  })

  it('C18: has its payload and headers stored to the byte', async () => {
    const payloads = [
      '{"b":1,"a":1,"aa":100,"b\\u0000":"\\u0000"}',
      '"a\\u0000b"',
      '["\\ud800","\\udfff\\ud83d"]',
      '"\\"\\\\{}, \\n\u007f\u2028\u{1F600}e\u0301"',
      '{"__proto__":{"a":[]},"n":[0,0.1,1e+21,1e-7]}',
      '"NULL"',
      'null',
      '[]',
      '""',
    ]
    const events = payloads.map((payload) => ({
      ...event,
      aggregateId: 'bytes',
      payload: JSON.parse(payload) as unknown,
      headers: { 'a"b\\': payload },
    }))
    await emitting('bytes', events)
    const stored = await committed('bytes')
    deepStrictEqual(
      stored.map(({ payload }) => payload),
      payloads,
    )
    deepStrictEqual(
      stored.map(({ headers }) => headers),
      payloads.map((payload) => JSON.stringify({ 'a"b\\': payload })),
    )
  })

  it('may have any text for its names, also what an array literal would choke on', async () => {
    const names = [
      'NULL',
      'null',
      '{}',
      '"',
      '\\',
      ',',
      ' ',
      "'",
      '\u{1F600}'.repeat(200),
      '\u0001',
    ]
    for (const [n, name] of names.entries()) {
      const named = { ...event, type: name, aggregateType: name, aggregateId: name }
      await emitting(`names ${n}`, [named])
      const rows = await committed(name)
      deepStrictEqual(
        rows.map(({ type, aggregatetype }) => [type, aggregatetype]),
        [[name, name]],
      )
    }
  })

  it('may have a sequence up to the last that a bigint column holds', async () => {
    const sequences = [0, -0, 0n, 1, Number.MAX_SAFE_INTEGER, 2n ** 53n + 1n, 2n ** 63n - 1n]
    await emitting(
      'sequences',
      sequences.map((sequence) => ({ ...event, aggregateId: 'sequences', sequence })),
    )
    deepStrictEqual(
      (await committed('sequences')).map(({ sequence }) => sequence),
      ['0', '0', '0', '1', '9007199254740991', '9007199254740993', '9223372036854775807'],
    )
  })
})
