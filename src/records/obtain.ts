import type { TransactionIdentity } from '../postgres/commit-fate.ts'
import type { OwnTables } from '../postgres/enter.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import { claim, type Claim } from './claim.ts'
import { readRecord, type StoredRecord } from './read.ts'

/** Who has the key: this call, a record somebody committed, or somebody who has not ended yet. */
type Obtained =
  | { readonly by: 'claim'; readonly transaction: TransactionIdentity }
  | { readonly by: 'record'; readonly record: StoredRecord }
  | { readonly by: 'other'; readonly sqlState?: '55P03' }

/**
 * How often a key may vanish between the lost claim and the read before the caller is sent away: a
 * twin that rolls back does it once, and more than a few need somebody who purges all the time.
 */
const MAX_ROUNDS = 10

/** Claims the key, or reads what somebody committed under it. */
export async function obtain(
  own: OwnTables,
  wanted: Claim,
  lock: 'none' | 'share',
  first: 'claim' | 'read' = 'claim',
): Promise<Obtained> {
  try {
    if (first === 'read') {
      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record }
    }
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const transaction = await claim(own, wanted)
      if (transaction) return { by: 'claim', transaction }
      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record }
    }
    return { by: 'other' }
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.lockNotAvailable) throw error
    return { by: 'other', sqlState: SQLSTATE.lockNotAvailable }
  }
}
