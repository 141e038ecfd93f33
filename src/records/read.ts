import { type InferResult, sql } from 'kysely'

import type { StoredFingerprint } from '../fingerprint/fingerprint.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { Statement, type TableBuilder, type ValueOf } from '../postgres/statement.ts'
import type { HttpHead } from '../response/codec.ts'
import type { Resource } from '../result.ts'
import type { RecordIdentity } from './identity.ts'

/** A committed record, as one statement sees it. */
export interface StoredRecord {
  readonly fingerprint: StoredFingerprint
  /** By the database's clock at that moment, whether or not anything has cleared the record. */
  readonly expired: boolean
  readonly outcome: 'completed' | 'rejected'
  /** Empty of a tombstone. */
  readonly response: Uint8Array | null
  /** False when it was left to be made anew by `replay`. */
  readonly responseStored: boolean
  /** Of an HTTP response. */
  readonly head: HttpHead | undefined
  readonly resource: Resource | undefined
  readonly createdAt: Date
}

/**
 * Reads the record behind a lost claim. A statement of its own, whose snapshot is newer than the
 * insert's, and one that sees response and expiry together.
 *
 * A record past its replay window is never locked: replays that overlap without end would keep it
 * from being swept for ever, since each comes before the one that it shares the lock with has ended.
 *
 * @returns undefined when the record is gone again: purged, or its transaction rolled back.
 */
export async function readRecord(
  own: OwnTables,
  identity: RecordIdentity,
  lock: 'none' | 'share',
): Promise<StoredRecord | undefined> {
  if (lock === 'none') return readOne(own, identity, plainStatement)
  const held = await readOne(own, identity, lockingStatement)
  if (held) return held
  const record = await readOne(own, identity, plainStatement)
  // One within its window came between the two statements, and nothing holds it: as if gone again.
  return record?.expired ? record : undefined
}

/** The same, sent along with a claim: where that is won, there is nothing to be told of it. */
export function readBehindClaim(
  own: OwnTables,
  identity: RecordIdentity,
): Promise<StoredRecord | undefined> {
  return readOne(own, identity, committedStatement)
}

const plainStatement = reading('all')
const committedStatement = reading('committed')
const lockingStatement = reading('locked')

function reading(what: 'all' | 'committed' | 'locked') {
  return new Statement((tables, value: ValueOf<RecordIdentity>) => {
    const select = selectRecord(tables, value)
    if (what === 'all') return select.compile()
    if (what === 'committed') return select.where('claimed', 'is', null).compile()
    return select
      .where('replay_until', '>', sql<Date>`clock_timestamp()`)
      .where('state', '<>', sql.lit('expired'))
      .forShare()
      .compile()
  })
}

function selectRecord(tables: TableBuilder, value: ValueOf<RecordIdentity>) {
  return tables
    .selectFrom('records')
    .where('tenant', '=', value('tenant'))
    .where('actor', '=', value('actor'))
    .where('operation', '=', value('operation'))
    .where('key', '=', value('key'))
    .select(['response', described.as('described')])
}

/**
 * All but the response, as one text: each column has its price even where there is no row, and what a
 * timestamp is parsed to is the host's choice. The clock and not the statement's start, which may lie
 * before a wait for the lock.
 */
const described = sql<string>`json_build_array(
    fingerprint_algorithm, fingerprint_version, encode(fingerprint, 'hex'),
    state, response_stored, resource_type, resource_id, extract(epoch from created_at) * 1000,
    state = 'expired' or replay_until <= clock_timestamp(), response_status, response_headers
  )::text`

type Described = readonly [
  algorithm: string,
  version: number,
  digest: string,
  state: string,
  responseStored: boolean,
  resourceType: string | null,
  resourceId: string | null,
  createdMs: number,
  expired: boolean,
  status: number | null,
  headers: HttpHead['headers'] | null,
]

type RecordRow = InferResult<ReturnType<typeof selectRecord>>[number]

async function readOne(
  own: OwnTables,
  identity: RecordIdentity,
  statement: typeof plainStatement,
): Promise<StoredRecord | undefined> {
  const { rows } = await own.perform(statement, identity)
  return rows[0] && recordOf(rows[0])
}

function recordOf({ response, described }: RecordRow): StoredRecord {
  const [algorithm, version, digest, state, responseStored, type, id, createdMs, ...others] =
    JSON.parse(described) as Described
  const [expired, status, headers] = others
  return {
    fingerprint: { algorithm, version, digest },
    expired,
    outcome: state === 'rejected' ? 'rejected' : 'completed',
    response,
    responseStored,
    head: status === null ? undefined : { status, headers: headers ?? [] },
    createdAt: new Date(createdMs),
    resource: type === null || id === null ? undefined : { type, id },
  }
}
