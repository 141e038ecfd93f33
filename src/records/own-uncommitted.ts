import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { identityOf, type RecordIdentity } from './identity.ts'

/** A row keeps 32 bits of the 64 that the id of its transaction has: the nearest to our own id. */
const own8 = sql`pg_current_xact_id()::text::bigint`
const xmin8 = sql`(
  ${own8} + ((records.xmin::text::bigint - ${own8} + 2147483648) & 4294967295) - 2147483648
)::text::xid8`

/**
 * Whether the record was written by the very transaction that we are in: it is seen, and yet in
 * progress, in the transaction or in a savepoint of it.
 */
export async function isOwnUncommitted(own: OwnTables, identity: RecordIdentity): Promise<boolean> {
  const { rows } = await own.run(
    own.tables
      .selectFrom('records')
      .where((eb) => eb.and(identityOf(identity)))
      // Not asked of older ones, whose id may be too far from ours to be known by its half.
      .where(
        sql<boolean>`case when created_at >= transaction_timestamp()
          then pg_xact_status(${xmin8}) = 'in progress' else false end`,
      )
      .select('key'),
  )
  return rows.length > 0
}
