import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { completedRow } from '../support/record-rows.ts'

const database = testDatabase()

let made = 0
/** A row that would be fine but for `changes`. */
function insert(changes: object) {
  made += 1
  return database.watcher
    .insertInto('records')
    .values({ ...completedRow(`k${made}`), ...changes })
    .execute()
}

const now = sql<Date>`now()`
/** Characters of so many octets, unlike each other, as PostgreSQL would compress them otherwise. */
const wide = (count: number, from: number) =>
  String.fromCodePoint(...Array.from({ length: count }, (_, at) => from + ((at * 7919) % 50_000)))
const printable = (count: number) =>
  String.fromCharCode(...Array.from({ length: count }, (_, at) => 33 + ((at * at + 7 * at) % 94)))

const claimed = { state: 'claimed', claimed: true, response: null, completed_at: null }
const expired = { state: 'expired', response: null, expired_at: now }

const columns: readonly [column: string, beside?: object][] = [
  ...['tenant', 'actor', 'operation'].map((part): [string] => [part]),
  ['resource_type', { resource_id: '1' }],
  ['resource_id', { resource_type: 'note' }],
]

const refused: [constraint: string, what: string, changes: object][] = [
  ...columns.flatMap(([column, beside]): typeof refused => [
    ['records_text_check', `an empty ${column}`, { ...beside, [column]: '' }],
    ['records_text_check', `201 characters of ${column}`, { ...beside, [column]: 'x'.repeat(201) }],
  ]),
  ['records_key_check', 'empty', { key: '' }],
  ['records_key_check', '256 characters', { key: 'k'.repeat(256) }],
  ['records_key_check', 'a space alone', { key: ' ' }],
  ['records_key_check', 'a leading space', { key: ' k' }],
  ['records_key_check', 'a trailing space', { key: 'k ' }],
  ['records_key_check', 'a line feed', { key: 'k\n' }],
  ['records_key_check', 'a control character', { key: 'a\u007fb' }],
  ['records_key_check', 'not ASCII', { key: 'é' }],
  ['records_fingerprint_algorithm_check', 'unknown', { fingerprint_algorithm: 'md5' }],
  ['records_fingerprint_version_check', '0', { fingerprint_version: 0 }],
  ['records_fingerprint_check', '31 octets', { fingerprint: Buffer.alloc(31) }],
  ['records_fingerprint_check', '33 octets', { fingerprint: Buffer.alloc(33) }],
  ['records_response_status_check', '99', { response_status: 99 }],
  ['records_response_status_check', '600', { response_status: 600 }],
  ['records_state_check', 'a status without a response', { ...expired, response_status: 200 }],
  ['records_state_check', 'headers without a response', { ...expired, response_headers: '{}' }],
  ['records_state_check', 'a claim with a status', { ...claimed, response_status: 200 }],
  ['records_state_check', 'a claim with headers', { ...claimed, response_headers: '{}' }],
  ['records_state_check', 'a type without an id', { resource_type: 'note' }],
  ['records_state_check', 'an id without a type', { resource_id: '1' }],
  ['records_state_check', 'unknown', { state: 'processing' }],
  ['records_state_check', 'claimed with a response', { ...claimed, response: Buffer.from('1') }],
  ['records_state_check', 'claimed and completed_at', { ...claimed, completed_at: now }],
  ['records_state_check', 'claimed and expired_at', { ...claimed, expired_at: now }],
  // What the foreign key looks at is the state by another name: neither may be without the other.
  ['records_state_check', 'claimed, and not marked as such', { ...claimed, claimed: null }],
  ['records_state_check', 'claimed, and marked as not', { ...claimed, claimed: false }],
  ...[true, false].flatMap((mark): typeof refused => [
    ['records_state_check', `expired and marked ${String(mark)}`, { ...expired, claimed: mark }],
    ['records_state_check', `completed and marked ${String(mark)}`, { claimed: mark }],
    [
      'records_state_check',
      `rejected and marked ${String(mark)}`,
      { state: 'rejected', claimed: mark },
    ],
  ]),
  ...['completed', 'rejected'].flatMap((state): typeof refused => [
    ['records_state_check', `${state} without a response`, { state, response: null }],
    ['records_state_check', `${state} without completed_at`, { state, completed_at: null }],
    ['records_state_check', `${state} and expired_at`, { state, expired_at: now }],
  ]),
  ['records_state_check', 'expired with a response', { ...expired, response: Buffer.from('1') }],
  ['records_state_check', 'expired without completed_at', { ...expired, completed_at: null }],
  ['records_state_check', 'expired without expired_at', { ...expired, expired_at: null }],
]

describe('the records table refuses', () => {
  for (const [constraint, what, changes] of refused) {
    it(`${constraint}: ${what}`, async () => {
      const failure = (await failureOf(insert(changes))) as { code: string; constraint: string }
      deepStrictEqual([failure.code, failure.constraint], ['23514', constraint])
    })
  }

  it('nothing else: every check is tried here', async () => {
    const { rows } = await sql<{ name: string }>`
      select conname as name from pg_constraint
      where contype = 'c' and (conrelid = 'idem.records'::regclass or contypid in (
        select atttypid from pg_attribute where attrelid = 'idem.records'::regclass
      )) order by 1
    `.execute(database.watcher)
    const tried = [...new Set(refused.map(([constraint]) => constraint))].sort()
    deepStrictEqual(
      rows.map(({ name }) => name),
      tried,
    )
  })
})

describe('the records table takes', () => {
  it('the longest scope and key there may be, which still fit its index', async () => {
    const longest = {
      tenant: wide(200, 0x10000),
      actor: wide(200, 0x20000),
      operation: wide(200, 0x30000),
      key: printable(255),
    }
    strictEqual(Buffer.byteLength(Object.values(longest).join('')), 3 * 800 + 255)
    await insert(longest)
    strictEqual(((await failureOf(insert(longest))) as { code: string }).code, '23505')
  })

  const longest = { resource_type: wide(200, 0x10000), resource_id: wide(200, 0x20000) }
  const taken: [what: string, changes: object][] = [
    [
      'texts of one character',
      { tenant: 'x', actor: 'x', operation: 'x', resource_type: 'x', resource_id: 'x' },
    ],
    ['the longest resource', longest],
    ['a resource in a tombstone', { ...expired, ...longest }],
    ['a key of one character', { key: '~' }],
    ['a key with a space inside', { key: '! ~' }],
    ['a keyed fingerprint', { fingerprint_algorithm: 'hmac-sha256' }],
    ['the highest version', { fingerprint_version: 2_147_483_647 }],
    ['the lowest status', { response_status: 100 }],
    ['the highest status and headers', { response_status: 599, response_headers: '{}' }],
    ['a rejection', { state: 'rejected' }],
  ]
  for (const [what, changes] of taken) {
    it(what, async () => {
      await insert(changes)
    })
  }

  it('an empty response, which stands for undefined', async () => {
    await insert({ response: Buffer.alloc(0) })
  })

  it('a tombstone', async () => {
    await insert(expired)
  })
})
