// D16: what codegen/db.ts says of a column is what pg returns for it. One list a table says both.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'

import { expectTypeOf } from 'expect-type'

import type { Json } from '../../codegen/db.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect()

interface Types {
  string: string
  number: number
  Buffer: Buffer
  Date: Date
  json: Json
}
type TypeOf<Name> = Name extends `${infer First extends keyof Types} | null`
  ? Types[First] | null
  : Types[Name & keyof Types]
type RowOf<Columns> = { -readonly [Name in keyof Columns]: TypeOf<Columns[Name]> }

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return 'Date'
  if (Buffer.isBuffer(value)) return 'Buffer'
  return typeof value === 'object' ? 'json' : typeof value
}

/** What each column was seen to hold, the null last. */
function typesIn(rows: readonly object[]): Record<string, string> {
  const seen: Record<string, Set<string>> = {}
  for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
    seen[column] = (seen[column] ?? new Set()).add(typeOf(value))
  }
  const nullLast = (a: string, b: string) => Number(a === 'null') - Number(b === 'null')
  return Object.fromEntries(
    Object.entries(seen).map(([column, types]) => [column, [...types].sort(nullLast).join(' | ')]),
  )
}

/** Beyond what a JavaScript number can count. */
const big = '9007199254740993'
const at = new Date('2026-01-02T03:04:05.678Z')
const json = { b: [1, null, { c: 'é' }], a: 1.5 }
const aggregate = { tenant: 't', aggregatetype: 'order', aggregateid: '1' }

// Each table gets one row with everything in it, and one with nothing that may be left out.
describe('what pg returns is what codegen/db.ts says (D16)', () => {
  it('records: bytea is a Buffer, json is parsed, timestamptz is a Date', async () => {
    const columns = {
      tenant: 'string',
      actor: 'string',
      operation: 'string',
      key: 'string',
      attempt: 'string',
      state: 'string',
      fingerprint_algorithm: 'string',
      fingerprint_version: 'number',
      fingerprint: 'Buffer',
      response: 'Buffer | null',
      response_status: 'number | null',
      response_headers: 'json | null',
      resource_type: 'string | null',
      resource_id: 'string | null',
      created_at: 'Date',
      completed_at: 'Date | null',
      replay_until: 'Date',
      expired_at: 'Date | null',
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
    const completed = { key: 'completed', state: 'completed', completed_at: at }
    const expired = { key: 'expired', state: 'expired', completed_at: at, expired_at: at }
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

  it('outbox: bigint is a string to the last digit, json is parsed', async () => {
    const columns = {
      position: 'string',
      id: 'string',
      tenant: 'string',
      aggregatetype: 'string',
      aggregateid: 'string',
      type: 'string',
      payload: 'json',
      sequence: 'string | null',
      headers: 'json',
      created_at: 'Date',
      attempts: 'number',
      next_attempt_at: 'Date | null',
      leased_until: 'Date | null',
      fence: 'string',
      last_error: 'string | null',
      published_at: 'Date | null',
      dead_at: 'Date | null',
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

  it('sink', async () => {
    const columns = { consumer: 'string', event_id: 'string', applied_at: 'Date' } as const
    await db.insertInto('sink').values({ consumer: 'c', event_id: '1' }).execute()
    const rows = await db.selectFrom('sink').selectAll().execute()
    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
  })

  it('sink_sequences', async () => {
    const columns = {
      consumer: 'string',
      tenant: 'string',
      aggregatetype: 'string',
      aggregateid: 'string',
      sequence: 'string',
    } as const
    const last = { ...aggregate, consumer: 'c', sequence: big }
    await db.insertInto('sink_sequences').values(last).execute()
    const rows = await db.selectFrom('sink_sequences').selectAll().execute()
    expectTypeOf(rows).toEqualTypeOf<RowOf<typeof columns>[]>()
    deepStrictEqual(typesIn(rows), columns)
    strictEqual(rows[0]?.sequence, big)
  })

  it('orders', async () => {
    const columns = {
      tenant: 'string',
      order_number: 'string',
      actor: 'string',
      operation: 'string',
      idempotency_key: 'string',
      sku: 'string',
      quantity: 'number',
      amount_minor: 'string',
      currency: 'string',
      status: 'string',
      version: 'number',
      created_at: 'Date',
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
