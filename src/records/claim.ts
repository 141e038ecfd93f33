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
import { identityColumns, identityOf, type RecordIdentity } from './identity.ts'

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
    ...identityOf(wanted),
    ...bounds,
    attempt: wanted.attempt,
    algorithm,
    version,
    digest: Buffer.from(digest, 'hex'),
    window: wanted.replayWindowMs,
  }
  try {
    const { rows } = await own.perform(statements[waits], values)
    const [won] = rows
    if (!won) return undefined
    own.answeredBy(won.pid)
    return { xid: won.xid, startedAt: won.startedAt }
  } catch (error) {
    throw waits === 'none' ? error : isolationError(error)
  }
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
      .returning([
        restoredLockTimeout.as('lock_timeout'),
        transactionIdentity.xid.as('xid'),
        transactionIdentity.startedAt.as('startedAt'),
        sql<string>`pg_backend_pid()::text`.as('pid'),
      ])
      .compile(),
  )
}
