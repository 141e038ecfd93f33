import type { TransactionIdentity } from '../postgres/commit-fate.ts'
import type { OwnTables } from '../postgres/enter.ts'
import type { Bounds, Waits } from '../postgres/settings.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import { claim, type Claim } from './claim.ts'
import { readBehindClaim, readRecord, type StoredRecord } from './read.ts'

/** Who has the key: this call, a record somebody committed, or somebody who has not ended yet. */
type Obtained =
  | { readonly by: 'claim'; readonly transaction: TransactionIdentity }
  | { readonly by: 'record'; readonly record: StoredRecord }
  | { readonly by: 'other'; readonly sqlState?: '55P03' }

/** How a key is to be obtained. */
interface Way {
  /** How the record behind a lost claim is read. */
  readonly lock: 'none' | 'share'
  readonly bounds: Bounds
  /** What is not bounded yet of the transaction's waits; the first claim does so. */
  readonly waits: Waits
  /** `'read'` where a record is more likely than none. */
  readonly first?: 'claim' | 'read'
  /** Is called with the claim, for a statement that is to be behind it. */
  readonly behindClaim?: () => Promise<unknown>
}

/**
 * How often a key may vanish between the lost claim and the read before the caller is sent away: a
 * twin that rolls back does it once, and more than a few need somebody who purges all the time.
 */
const MAX_ROUNDS = 10

/** Claims the key, or reads what somebody committed under it. */
export async function obtain(own: OwnTables, wanted: Claim, way: Way): Promise<Obtained> {
  const { lock, first = 'claim' } = way
  try {
    if (first === 'read') {
      const record = await readRecord(own, wanted, lock)
      if (record) return { by: 'record', record }
    }
    let { waits } = way
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const found = await claimOrRead(own, wanted, { ...way, waits })
      if (found) return found
      waits = 'none'
    }
    return { by: 'other' }
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.lockNotAvailable) throw error
    return { by: 'other', sqlState: SQLSTATE.lockNotAvailable }
  }
}

/** @returns undefined when the record was gone again. */
async function claimOrRead(
  own: OwnTables,
  wanted: Claim,
  { lock, bounds, waits, behindClaim }: Way,
): Promise<Obtained | undefined> {
  const claiming = () => claim(own, wanted, bounds, waits)
  const read = () => readRecord(own, wanted, lock)
  const ahead = () => readBehindClaim(own, wanted)
  const nothing = () => Promise.resolve(undefined)
  // Where statements share a turn, what either outcome needs is sent along. Not so a read that locks:
  // a claim of our own would be locked by it.
  const [transaction, found] = own.sharesTurns
    ? await own.together([claiming, lock === 'none' ? ahead : nothing, behindClaim ?? nothing])
    : [await claiming()]
  if (transaction) {
    if (!own.sharesTurns) await behindClaim?.()
    return { by: 'claim', transaction }
  }
  const record = found ?? (await read())
  return record && { by: 'record', record }
}
