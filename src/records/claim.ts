import { sql } from 'kysely'

import type { Fingerprint } from '../fingerprint/fingerprint.ts'
import { type TransactionIdentity, transactionIdentity } from '../postgres/commit-fate.ts'
import type { OwnTables } from '../postgres/enter.ts'
import {
  type Bounds,
  boundWaitsFirst,
  claimedIfReadCommitted,
  isolationError,
  restoredLockTimeout,
  type Waits,
} from '../postgres/settings.ts'
import { Statement, type ValueOf } from '../postgres/statement.ts'
import { identityColumns, type RecordIdentity } from './identity.ts'

/** What a claim writes. */
export interface Claim extends RecordIdentity {
  /** Random, so that a claim is recognised as one's own. A UUID. */
  readonly attempt: string
  /** The first is stored; a record under any of them is the same intent. */
  readonly fingerprints: readonly [Fingerprint, ...Fingerprint[]]
  readonly replayWindowMs: number
}

interface Values extends RecordIdentity, Bounds {
  readonly attempt: string
  readonly algorithm: string
  readonly version: number
  readonly digest: Buffer
  readonly window: number
}

/**
 * Claims the key, waiting for a twin whose transaction is open. The conflict target is named, so
 * that a unique index of the host's own is an error and not a lost claim.
 *
 * @param waits - what is not bounded yet of the transaction's waits.
 * @returns the transaction it was won in; the host's `lock_timeout` is then back in place. undefined
 * when somebody has committed this key.
 * @throws OncelyError `isolation_unsupported`.
 */
export async function claim(
  own: OwnTables,
  wanted: Claim,
  bounds: Bounds,
  waits: Waits,
): Promise<TransactionIdentity | undefined> {
  const [{ algorithm, version, digest }] = wanted.fingerprints
  const values = {
    tenant: wanted.tenant,
    actor: wanted.actor,
    operation: wanted.operation,
    key: wanted.key,
    attempt: wanted.attempt,
    lockTimeout: bounds.lockTimeout,
    silence: bounds.silence,
    algorithm,
    version,
    digest: Buffer.from(digest, 'hex'),
    window: wanted.replayWindowMs,
  }
  try {
    const { rows } = await own.perform(statements[waits], values)
    const [row] = rows
    if (!row) return undefined
    const { xid, startedAt, pid } = wonBy(row.won)
    own.answeredBy(pid)
    return { xid, startedAt }
  } catch (error) {
    throw waits === 'none' ? error : isolationError(error)
  }
}

/** Of the transaction that has won the claim. One text, as each column has its price. */
const won = sql<string>`concat_ws(' ', ${transactionIdentity.xid}, ${transactionIdentity.startedAt},
    pg_backend_pid(), ${restoredLockTimeout})`

function wonBy(text: string) {
  const [xid = '', startedAt = '', pid = ''] = text.split(' ')
  return { xid, startedAt, pid }
}

const statements = {
  'lock and silence': claiming('lock and silence'),
  lock: claiming('lock'),
  none: claiming('none'),
}

// Each cast, as a parameter would otherwise be of the column's domain, which a driver that asks for
// the types does not know how to send: PGlite makes a text of a Buffer.
function claiming(waits: Waits) {
  return new Statement((tables, value: ValueOf<Values>) =>
    tables
      .insertInto('records')
      .values({
        tenant: sql<string>`${value('tenant')}::text`,
        actor: sql<string>`${value('actor')}::text`,
        operation: sql<string>`${value('operation')}::text`,
        key: sql<string>`${value('key')}::text`,
        attempt: value('attempt'),
        state: waits === 'none' ? sql.lit('claimed') : claimedIfReadCommitted,
        fingerprint_algorithm: sql<string>`${value('algorithm')}::text`,
        fingerprint_version: sql<number>`${value('version')}::integer`,
        fingerprint: sql<Buffer>`${value('digest')}::bytea`,
        created_at: boundWaitsFirst(waits, value),
        // Set here and not with the response, whose update would otherwise have to touch its index.
        replay_until: sql`statement_timestamp() + ${value('window')}::float8 * interval '1 millisecond'`,
      })
      .onConflict((conflict) => conflict.columns([...identityColumns]).doNothing())
      .returning(won.as('won'))
      .compile(),
  )
}
