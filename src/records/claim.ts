import { sql } from 'kysely'

import type { Fingerprint } from '../fingerprint/fingerprint.ts'
import { type TransactionIdentity, transactionIdentity } from '../postgres/commit-fate.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { restoredLockTimeout } from '../postgres/settings.ts'
import { identityColumns, identityOf, type RecordIdentity } from './identity.ts'

/** What a claim writes. */
export interface Claim extends RecordIdentity {
  /** Random, so that a claim is recognised as one's own. A UUID. */
  readonly attempt: string
  /** The first is stored; a record under any of them is the same intent. */
  readonly fingerprints: readonly [Fingerprint, ...Fingerprint[]]
  readonly replayWindowMs: number
}

/**
 * Claims the key, waiting for a twin whose transaction is open. The conflict target is named, so
 * that a unique index of the host's own is an error and not a lost claim.
 *
 * @returns the transaction it was won in; the host's `lock_timeout` is then back in place. undefined
 * when somebody has committed this key.
 */
export async function claim(
  own: OwnTables,
  wanted: Claim,
): Promise<TransactionIdentity | undefined> {
  const { attempt, replayWindowMs } = wanted
  const [fingerprint] = wanted.fingerprints
  const { rows } = await own.run(
    own.tables
      .insertInto('records')
      .values({
        ...identityOf(wanted),
        attempt,
        state: 'claimed',
        fingerprint_algorithm: fingerprint.algorithm,
        fingerprint_version: fingerprint.version,
        fingerprint: Buffer.from(fingerprint.digest, 'hex'),
        // Set here and not with the response, whose update would otherwise have to touch its index.
        replay_until: sql`statement_timestamp() + ${replayWindowMs}::float8 * interval '1 millisecond'`,
      })
      .onConflict((conflict) => conflict.columns([...identityColumns]).doNothing())
      .returning([
        restoredLockTimeout.as('lock_timeout'),
        transactionIdentity.xid.as('xid'),
        transactionIdentity.startedAt.as('startedAt'),
      ]),
  )
  return rows[0] && { xid: rows[0].xid, startedAt: rows[0].startedAt }
}
