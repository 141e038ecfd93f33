import { type Kysely, sql } from 'kysely'

import { bookkeeping } from '../../migrations/index.ts'
import { enter } from '../postgres/enter.ts'
import { requireKysely } from '../postgres/given.ts'
import { refuseOld } from '../postgres/server.ts'

/** What a database has of our migrations. */
export interface Bookkeeping {
  readonly schemaExists: boolean
  readonly tableExists: boolean
  /** In the order in which they were applied. */
  readonly applied: readonly AppliedMigration[]
}

export interface AppliedMigration {
  readonly name: string
  readonly appliedAt: Date
}

/** @throws OncelyError `server_too_old`. */
export async function readBookkeeping<DB>(db: Kysely<DB>, schema: string): Promise<Bookkeeping> {
  requireKysely(db)
  const own = enter(db, schema)
  // By the catalogue: `to_regclass` fails for a role that may not use the schema.
  const { rows } = await own.run(
    sql<{ server: number; schema: boolean; table: boolean }>`select
      current_setting('server_version_num')::int as server,
      exists (select from pg_namespace where nspname = ${schema}) as schema,
      exists (
        select from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema} and c.relname = ${bookkeeping.migrationTableName}
      ) as table`.compile(own.tables),
  )
  const found = rows[0] as (typeof rows)[number]
  refuseOld(found.server)
  return {
    schemaExists: found.schema,
    tableExists: found.table,
    applied: found.table ? await readApplied(db, schema) : [],
  }
}

async function readApplied<DB>(db: Kysely<DB>, schema: string): Promise<AppliedMigration[]> {
  const own = enter(db, schema)
  const table = sql.id(schema, bookkeeping.migrationTableName)
  // As Kysely's migrator sorts them, whose table this is too.
  const { rows } = await own.run(
    sql<{ name: string; timestamp: string }>`
      select name, timestamp from ${table} order by timestamp, name`.compile(own.tables),
  )
  return rows.map(({ name, timestamp }) => ({ name, appliedAt: new Date(timestamp) }))
}

/** What Kysely's migrator would create, so that kysely-ctl can go on with it. */
export function bookkeepingStatements(schema: string, state: Bookkeeping) {
  const table = sql.id(schema, bookkeeping.migrationTableName)
  return [
    ...(state.schemaExists ? [] : [sql`create schema ${sql.id(schema)}`]),
    ...(state.tableExists
      ? []
      : [
          sql`create table ${table} (
  name varchar(255) not null primary key,
  "timestamp" varchar(255) not null
)`,
        ]),
  ]
}
