import { type Kysely, sql } from 'kysely'

import { isOncelyError } from '../errors.ts'
import { enter } from '../postgres/enter.ts'
import type { Finding } from './finding.ts'

/**
 * Records that were committed without an outcome: their keys answer nobody. The constraint trigger
 * refuses them at COMMIT, so somebody had disabled or dropped it.
 */
export async function committedClaims<DB>(
  db: Kysely<DB>,
  schema: string,
): Promise<readonly Finding[]> {
  const own = enter(db, schema)
  try {
    const { rows } = await own.run(
      own.tables
        .selectFrom('records')
        .select(sql<number>`count(*)::float8`.as('count'))
        .where('state', '=', 'claimed'),
    )
    const count = rows[0]?.count ?? 0
    if (count === 0) return []
    const table = `"${schema.replaceAll('"', '""')}".records`
    return [
      {
        code: 'claim_committed',
        problem:
          count === 1
            ? '1 record has no outcome, and blocks its key'
            : `${count} records have no outcome, and block their keys`,
        mend: `see whether the business write of each is there: select * from ${table} where state = 'claimed'; where it is not, delete the record`,
      },
    ]
  } catch (error) {
    // Told by the looks at the migrations and at the rights.
    if (isOncelyError(error) && ['schema_missing', 'access_denied'].includes(error.code)) return []
    throw error
  }
}
