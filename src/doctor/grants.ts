import { type Kysely, sql } from 'kysely'

import { bookkeeping } from '../../migrations/index.ts'
import { grants, rightsFor } from '../migrate/grants.ts'
import { enter } from '../postgres/enter.ts'
import type { Finding } from './finding.ts'

interface MissingGrant {
  readonly finding: Finding
  /** Whether the rest of the schema cannot be looked at without it. */
  readonly hides: boolean
}

/** Rights that the connected role lacks, on the tables that there are. */
export async function missingGrants<DB>(
  db: Kysely<DB>,
  schema: string,
  sweeper: boolean,
): Promise<readonly MissingGrant[]> {
  const own = enter(db, schema)
  const rights = rightsFor({ sweeper, withOrders: true }).flatMap(({ table, privileges }) =>
    privileges.map((privilege) => ({ table, privilege })),
  )
  const { rows } = await own.run(
    sql<{ role: string; usage: boolean; missing: readonly { table: string; privilege: string }[] }>`
      select current_user as role, has_schema_privilege(n.oid, 'usage') as usage, (
        select coalesce(json_agg(wanted), '[]')
        from json_to_recordset(${JSON.stringify(rights)}) as wanted("table" text, privilege text)
        join pg_class c on c.relnamespace = n.oid and c.relname = wanted.table
        where not has_table_privilege(c.oid, wanted.privilege)
      ) as missing
      from pg_namespace n where n.nspname = ${schema}`.compile(own.tables),
  )
  return rows.flatMap(({ role, usage, missing }) => {
    const statements = grants({ role, schema, sweeper, withOrders: true })
    const found = missing.map(({ table, privilege }) => ({
      finding: {
        code: 'grant_missing' as const,
        problem: `${role} may not ${privilege} ${table}`,
        mend: `${mendFor(statements, table)};`,
      },
      hides: table === bookkeeping.migrationTableName,
    }))
    if (usage) return found
    const problem = `${role} may not use the schema '${schema}'`
    const mend = `${String(statements[0])};`
    return [{ finding: { code: 'grant_missing' as const, problem, mend }, hides: true }, ...found]
  })
}

/** The statement that grants everything that is needed on the table. */
function mendFor(statements: readonly string[], table: string): string {
  return String(statements.find((statement) => statement.includes(`."${table}" to `)))
}
