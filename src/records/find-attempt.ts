import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import { identityOf, type RecordIdentity } from './identity.ts'

/**
 * Whose record is committed under a key. One statement sees the record and whether the server is
 * the primary: on a standby a record may be missing that is committed.
 *
 * @returns undefined on a server in recovery.
 */
export async function findAttempt(
  own: OwnTables,
  wanted: RecordIdentity & { readonly attempt: string },
): Promise<'ours' | 'absent' | 'of another' | undefined> {
  const { tenant, actor, operation, key } = identityOf(wanted)
  const { rows } = await own.run(
    own.tables
      .selectFrom(
        sql<{ in_recovery: boolean }>`(select pg_is_in_recovery() as in_recovery)`.as('server'),
      )
      .leftJoin('records', (join) =>
        join.on((eb) =>
          eb.and([
            eb('records.tenant', '=', tenant),
            eb('records.actor', '=', actor),
            eb('records.operation', '=', operation),
            eb('records.key', '=', key),
          ]),
        ),
      )
      .select(['server.in_recovery', 'records.attempt']),
  )
  const row = rows[0]
  if (!row || row.in_recovery) return undefined
  if (row.attempt === null) return 'absent'
  return row.attempt === wanted.attempt ? 'ours' : 'of another'
}
