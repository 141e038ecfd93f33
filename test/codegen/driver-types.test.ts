// What codegen/db.ts says of a column is what pg returns for it. One list a table says both.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'

import { expectTypeOf } from 'expect-type'

import type { Json } from '../../codegen/db.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect()

interface Types {
  boolean: boolean
  string: string
  number: number
  Buffer: Buffer
  Date: Date
  json: Json
}
type TypeOf<Name> = Name extends `${infer First extends keyof Types} | null`
  ? Types[First] | null
  : Types[Name & keyof Types]
/** Names of types, each with its columns → the row. */
type RowOf<Columns extends Readonly<Record<string, readonly string[]>>> = {
  [Column in Columns[keyof Columns][number]]: TypeOf<
    { [Name in keyof Columns]: Column extends Columns[Name][number] ? Name : never }[keyof Columns]
  >
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return 'Date'
  if (Buffer.isBuffer(value)) return 'Buffer'
  return typeof value === 'object' ? 'json' : typeof value
}

/** The same as seen in rows: names of types, the null last, each with its columns in order. */
function typesIn(rows: readonly object[]): Record<string, string[]> {
  const seen: Record<string, string[]> = {}
  for (const column of Object.keys(rows[0] ?? {}).sort()) {
    const types = new Set(rows.map((row) => typeOf((row as Record<string, unknown>)[column])))
    const name = [...types].sort((a, b) => Number(a === 'null') - Number(b === 'null')).join(' | ')
    ;(seen[name] ??= []).push(column)
  }
  return seen
}

/** Beyond what a JavaScript number can count. */
const big = '9007199254740993'
const at = new Date('2026-01-02T03:04:05.678Z')
const json = { b: [1, null, { c: 'é' }], a: 1.5 }
const aggregate = { tenant: 't', aggregatetype: 'order', aggregateid: '1' }

// A table whose columns may be null gets a row with all of them, and one with none.
describe('what pg returns is what codegen/db.ts says', () => {
  it('D16: records: bytea is a Buffer, json is parsed, timestamptz is a Date', async () => {
    const columns = {
      string: ['actor', 'attempt', 'fingerprint_algorithm', 'key', 'operation', 'state', 'tenant'],
      number: ['fingerprint_version'],
      boolean: ['response_stored'],
      'boolean | null': ['claimed'],
      Buffer: ['fingerprint'],
      'Buffer | null': ['response'],
      'number | null': ['response_status'],
      'json | null': ['response_headers'],
      'string | null': ['resource_id', 'resource_type'],
      Date: ['created_at', 'replay_until'],
      'Date | null': ['completed_at', 'expired_at'],
    } as const
    const claimed = {
      ...{ tenant: 't', actor: 'a', operation: 'o', key: 'claimed', attempt: randomUUID() },
      ...{ state: 'claimed', replay_until: at, fingerprint: Buffer.alloc(32, 7) },
      ...{ fingerprint_algorithm: 'sha256', fingerprint_version: 1 },
    }
    const response = {
      response: Buffer.from([0, 255]),
      response_status: 201,
      response_headers: json,
    }
    const resource = { resource_type: 'order', resource_id: '1' }
    const completed = { key: 'completed', state: 'completed', claimed: null, completed_at: at }
    const ended = { completed_at: at, expired_at: at }
    const expired = { key: 'expired', state: 'expired', claimed: null, ...ended }
    // A claim can be seen in its own transaction only.
    const trx = await db.startTransaction().execute()
    await trx.insertInto('records').values(claimed).execute()
    await trx
      .insertInto('records')
      .values({ ...claimed, ...expired })
      .execute()
    await trx
      .insertInto('records')
      .values({ ...claimed, ...completed, ...response, ...resource })
      .execute()
    const rows = await trx.selectFrom('records').selectAll().orderBy('key').execute()
    await trx.rollback().execute()

    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
    deepStrictEqual(rows[0]?.fingerprint, claimed.fingerprint)
    deepStrictEqual(rows[1]?.response, response.response)
    deepStrictEqual(rows[1].response_headers, json)
    deepStrictEqual(rows[1].completed_at, at)
  })

  it('D16: outbox: bigint is a string to the last digit, json is parsed', async () => {
    const columns = {
      string: ['aggregateid', 'aggregatetype', 'fence', 'id', 'position', 'tenant', 'type'],
      json: ['headers', 'payload'],
      'string | null': ['last_error', 'sequence'],
      Date: ['created_at'],
      number: ['attempts'],
      'Date | null': ['dead_at', 'leased_until', 'next_attempt_at', 'published_at'],
    } as const
    const event = { ...aggregate, type: 'order.created', payload: json, headers: {} }
    const bare = { ...event, id: randomUUID(), dead_at: at }
    const lease = { sequence: big, fence: BigInt(big), next_attempt_at: at, leased_until: at }
    const full = { ...event, ...lease, id: randomUUID(), last_error: 'e', published_at: at }
    await db.insertInto('outbox').values(full).execute()
    await db.insertInto('outbox').values(bare).execute()
    const rows = await db.selectFrom('outbox').selectAll().orderBy('position').execute()

    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
    deepStrictEqual([rows[0]?.sequence, rows[0]?.fence], [big, big])
    deepStrictEqual(rows[0]?.payload, json)
  })

  it('D16: sink', async () => {
    const columns = {
      string: ['consumer', 'event_id'],
      Date: ['applied_at'],
    } as const
    await db.insertInto('sink').values({ consumer: 'c', event_id: '1' }).execute()
    const rows = await db.selectFrom('sink').selectAll().execute()
    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
  })

  it('D16: sink_sequences', async () => {
    const columns = {
      string: ['aggregateid', 'aggregatetype', 'consumer', 'sequence', 'tenant'],
    } as const
    const last = { ...aggregate, consumer: 'c', sequence: big }
    await db.insertInto('sink_sequences').values(last).execute()
    const rows = await db.selectFrom('sink_sequences').selectAll().execute()
    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
    strictEqual(rows[0]?.sequence, big)
  })

  it('D16: orders', async () => {
    const columns = {
      string: [
        'actor',
        'amount_minor',
        'currency',
        'idempotency_key',
        'operation',
        'order_number',
        'sku',
        'status',
        'tenant',
      ],
      number: ['quantity', 'version'],
      Date: ['created_at'],
    } as const
    const call = { tenant: 't', actor: 'a', operation: 'o', idempotency_key: 'k' }
    const order = {
      order_number: '1',
      sku: 'TEA',
      quantity: 1,
      amount_minor: 1999,
      currency: 'EUR',
    }
    await db
      .insertInto('orders')
      .values({ ...call, ...order, status: 'placed' })
      .execute()
    const rows = await db.selectFrom('orders').selectAll().execute()
    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
    strictEqual(rows[0]?.amount_minor, '1999')
  })
})
