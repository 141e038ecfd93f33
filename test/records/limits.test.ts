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

const claimed = { state: 'claimed', response: null, completed_at: null }
const expired = { state: 'expired', response: null, expired_at: now }

const refused: [constraint: string, what: string, changes: object][] = [
  ...['tenant', 'actor', 'operation'].flatMap((part): typeof refused => [
    [`records_${part}_check`, 'empty', { [part]: '' }],
    [`records_${part}_check`, '201 characters', { [part]: 'x'.repeat(201) }],
  ]),
  ['records_key_check', 'empty', { key: '' }],
  ['records_key_check', '256 characters', { key: 'k'.repeat(256) }],
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
  ['records_response_check', 'a status without a response', { ...expired, response_status: 200 }],
  ['records_response_check', 'headers without a response', { ...expired, response_headers: '{}' }],
  ['records_resource_check', 'a type without an id', { resource_type: 'note' }],
  ['records_resource_check', 'an id without a type', { resource_id: '1' }],
  ['records_resource_type_check', 'empty', { resource_type: '', resource_id: '1' }],
  ['records_resource_id_check', '801 octets', { resource_type: 'n', resource_id: 'x'.repeat(801) }],
  ['records_state_check', 'unknown', { state: 'processing' }],
  ['records_state_check', 'claimed with a response', { ...claimed, response: Buffer.from('1') }],
  ['records_state_check', 'claimed and completed_at', { ...claimed, completed_at: now }],
  ['records_state_check', 'claimed and expired_at', { ...claimed, expired_at: now }],
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
      where conrelid = 'idem.records'::regclass and contype = 'c' order by 1
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

  it('an empty response, which stands for undefined', async () => {
    await insert({ response: Buffer.alloc(0) })
  })

  it('a tombstone', async () => {
    await insert(expired)
  })
})
