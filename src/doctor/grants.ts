import { type Kysely, sql } from 'kysely'

import { bookkeeping } from '../../migrations/index.ts'
import { grantStatements, rightsFor } from '../migrate/grants.ts'
import { quoted } from '../migrate/statements.ts'
import { enter } from '../postgres/enter.ts'
import type { Finding } from './finding.ts'

/** A right that is missing, on the schema or on one table. */
export interface MissingGrant {
  readonly finding: Finding
  readonly table?: string
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
    const statements = grantStatements({ role, schema, sweeper, withOrders: true })
    const finding = (what: string, statement: string): Finding => ({
      code: 'grant_missing',
      problem: `${role} may not ${what}`,
      mend: 'grant it, as somebody who may',
      sql: `${statement};`,
    })
    const [onSchema = '', ...onTables] = statements
    const found = missing.map(({ table, privilege }) => {
      const statement = onTables.find((grant) => grant.includes(` on ${quoted(schema, table)} `))
      return {
        finding: finding(`${privilege} ${table}`, String(statement)),
        table,
        hides: table === bookkeeping.migrationTableName,
      }
    })
    if (usage) return found
    return [{ finding: finding(`use the schema '${schema}'`, onSchema), hides: true }, ...found]
  })
}
