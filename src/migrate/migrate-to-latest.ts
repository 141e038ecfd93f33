import { type Kysely, sql } from 'kysely'
import { type MigrationResult, Migrator } from 'kysely/migration'

import {
  bookkeeping,
  coreMigrations,
  migrationsFor,
  ordersMigrations,
} from '../../migrations/index.ts'
import { isOncelyError, OncelyError } from '../errors.ts'
import { checkSchema, DEFAULT_SCHEMA } from '../options.ts'
import { enter } from '../postgres/enter.ts'

/** Which tables, and where. */
export interface MigrateOptions {
  /**
   * The schema to create the tables in; it is created if missing.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * Whether the reference orders come too. Once applied they stay included.
   *
   * @defaultValue false
   */
  readonly withOrders?: boolean
}

/**
 * Creates the tables or brings them up to date. A second run has nothing to do.
 *
 * @param db - a Kysely on a direct connection, not through a transaction pooler: the lock that
 * keeps two migrators apart belongs to the session.
 * @returns the names of the migrations that this run applied.
 * @throws OncelyError `migration_failed`, with the error as `cause`; that migration left nothing.
 * @throws OncelyError `invalid_options` for a name that no schema can have.
 */
export async function migrateToLatest<DB>(
  db: Kysely<DB>,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const schema = options.schema ?? DEFAULT_SCHEMA
  checkSchema(schema)
  // The host's plugins would rename our columns.
  const host = db.withoutPlugins()
  const withOrders = options.withOrders === true || (await ordersApplied(host, schema))
  const sets = withOrders ? [coreMigrations, ordersMigrations] : [coreMigrations]
  const migrator = new Migrator({
    ...bookkeeping,
    db: host,
    migrationTableSchema: schema,
    provider: { getMigrations: () => Promise.resolve(migrationsFor(schema, sets)) },
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error !== undefined) throw failed(error, results)
  return results.map(({ migrationName }) => migrationName)
}

/** A migrator that does not know a migration the database has would take it for a corruption. */
async function ordersApplied<DB>(db: Kysely<DB>, schema: string): Promise<boolean> {
  const own = enter(db, schema)
  const table = sql.id(schema, bookkeeping.migrationTableName)
  const names = sql.join(Object.keys(ordersMigrations))
  try {
    const query = sql`select from ${table} where name in (${names})`.compile(own.tables)
    return (await own.run(query)).rows.length > 0
  } catch (error) {
    if (isOncelyError(error) && error.code === 'schema_missing') return false
    throw failed(error, [])
  }
}

function failed(cause: unknown, results: readonly MigrationResult[]): OncelyError {
  const name = results.find(({ status }) => status === 'Error')?.migrationName
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new OncelyError(
    'migration_failed',
    name === undefined ? `migration failed: ${reason}` : `migration ${name} failed: ${reason}`,
    { cause },
  )
}
