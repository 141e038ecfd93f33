import type { Kysely } from 'kysely'

import { checkNames, checkSchema, DEFAULT_SCHEMA } from '../options.ts'
import { readBookkeeping } from './bookkeeping.ts'
import { planUp } from './plan.ts'
import { runPlan, scriptOf } from './run.ts'

/** Which tables, and where. */
export interface MigrateOptions {
  /**
   * The schema that the tables are in; it is created if missing.
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
 * Creates the tables or brings them up to date, in one transaction. A second run has nothing to do;
 * several at once wait for each other, and one does the work.
 *
 * @param db - a Kysely of a role that may create tables; or a transaction, such as a migration of
 * the host's own is given, which is joined then.
 * @returns the names of the migrations that this run applied.
 * @throws OncelyError `migration_failed`, with the error as `cause`; nothing of the run is left.
 * @throws OncelyError `schema_newer` when a newer version of oncely has migrated the schema.
 * @throws OncelyError `server_too_old`; `transaction_not_started`; `outcome_unknown` when the answer
 * to COMMIT was lost: run it again. `invalid_options`.
 */
export async function migrateToLatest<DB>(
  db: Kysely<DB>,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const { schema, withOrders } = resolve(options)
  return runPlan(db, schema, (state) => planUp(schema, state, withOrders))
}

/**
 * What `migrateToLatest` would run, as a script for `psql`: for a database that only its
 * administrators may change. Runs nothing.
 *
 * @returns an empty text when there is nothing to do.
 * @throws OncelyError `schema_newer`, `server_too_old`, `invalid_options`.
 */
export async function migrationScript<DB>(
  db: Kysely<DB>,
  options: MigrateOptions = {},
): Promise<string> {
  const { schema, withOrders } = resolve(options)
  const steps = await planUp(schema, await readBookkeeping(db, schema), withOrders)
  return steps.length === 0 ? '' : scriptOf(steps)
}

function resolve(options: MigrateOptions): Required<MigrateOptions> {
  checkNames(options, ['schema', 'withOrders'])
  const { schema = DEFAULT_SCHEMA, withOrders = false } = options
  checkSchema(schema)
  return { schema, withOrders }
}
