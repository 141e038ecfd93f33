import { type Kysely, sql } from 'kysely'

import { quoted } from '../migrate/statements.ts'
import { enter } from '../postgres/enter.ts'
import type { Finding } from './finding.ts'

/**
 * Records that were committed without an outcome: their keys answer nobody. The constraint
 * `records_outcome_at_commit` refuses them, so somebody had dropped it, or disabled its triggers.
 */
export async function committedClaims<DB>(
  db: Kysely<DB>,
  schema: string,
): Promise<readonly Finding[]> {
  const own = enter(db, schema)
  const { rows } = await own.run(
    own.tables
      .selectFrom('records')
      .select(sql<string>`count(*)::text`.as('count'))
      .where('state', '=', 'claimed'),
  )
  const count = rows[0]?.count
  if (count === '0') return []
  return [
    {
      code: 'claim_committed',
      problem: `records without an outcome, whose keys are blocked: ${count}`,
      mend: 'look whether the business write of each is there, and delete the record where it is not',
      sql: `select * from ${quoted(schema, 'records')} where state = 'claimed';`,
    },
  ]
}
