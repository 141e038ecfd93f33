import type { Kysely, Transaction } from 'kysely'

import { checkFlag, checkNames, checkSchema, checkTimeout } from '../checks.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { type Bookkeeping, readBookkeeping } from './bookkeeping.ts'
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
  /**
   * How long to wait for another migrator, in milliseconds, from 1 to 2,147,483,647.
   *
   * @defaultValue 600,000 (10 minutes): longer than a migration takes, and shorter than a deployment
   * that hangs because somebody has left the lock behind.
   */
  readonly waitTimeoutMs?: number
}

/** What a run has done. */
export interface MigrationReport {
  /** The names of the migrations that it applied, in their order; none when all were there. */
  readonly applied: readonly string[]
}

/**
 * Creates the tables or brings them up to date, in one transaction. A second run has nothing to do;
 * several at once wait for each other, and one does the work.
 *
 * @param db - a Kysely of a role that may create tables; or a transaction, such as a migration of
 * the host's own is given, which is joined then. Give that one, and not another Kysely, in a migration
 * of the host's: its migrator holds the lock that this waits for. In a transaction stricter than
 * READ COMMITTED, a run that had to wait fails, and can be repeated.
 * @throws OncelyError `migration_failed`, with the error as `cause`; nothing of the run is left. Also
 * when another migrator did not end within `waitTimeoutMs`.
 * @throws OncelyError `schema_newer` when a newer version of oncely has migrated the schema.
 * @throws OncelyError `server_too_old`; `transaction_not_started`; `outcome_unknown` when the answer
 * to COMMIT was lost: run it again. `invalid_options`.
 */
export async function migrateToLatest<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrateOptions = {},
): Promise<MigrationReport> {
  const { schema, withOrders, waitTimeoutMs } = resolve(options)
  const plan = (state: Bookkeeping) => planUp(schema, state, withOrders)
  return { applied: await runPlan(db, schema, waitTimeoutMs, plan) }
}

/**
 * What `migrateToLatest` would run, as a script for `psql`: for a database that only its
 * administrators may change. Runs nothing.
 *
 * @returns an empty text when there is nothing to do.
 * @throws OncelyError `schema_newer`, `server_too_old`, `access_denied`, `invalid_options`; the driver's
 * error when there is no connection.
 */
export async function migrateToLatestScript<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrateOptions = {},
): Promise<string> {
  const { schema, withOrders } = resolve(options)
  const steps = await planUp(schema, await readBookkeeping(db, schema), withOrders)
  return steps.length === 0 ? '' : scriptOf(steps)
}

function resolve(options: MigrateOptions): Required<MigrateOptions> {
  checkNames(options, ['schema', 'withOrders', 'waitTimeoutMs'])
  const { schema = DEFAULT_SCHEMA, withOrders = false, waitTimeoutMs = 600_000 } = options
  checkSchema(schema)
  checkFlag('withOrders', withOrders)
  checkTimeout('waitTimeoutMs', waitTimeoutMs)
  return { schema, withOrders, waitTimeoutMs }
}
