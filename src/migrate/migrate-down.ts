import { type Kysely, sql, type Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { checkNames, checkSchema, checkTimeout } from '../checks.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { enter } from '../postgres/enter.ts'
import { type Bookkeeping, readBookkeeping } from './bookkeeping.ts'
import { allMigrations, planDown, type Step } from './plan.ts'
import { runPlan, scriptOf } from './run.ts'

/** What is to be undone. */
export interface MigrateDownOptions {
  /**
   * The schema that the tables are in.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * How many migrations to undo, the last applied one first; `Infinity` for all of them.
   *
   * @defaultValue 1
   */
  readonly steps?: number
  /**
   * How long to wait for another migrator, in milliseconds, from 1 to 2,147,483,647.
   *
   * @defaultValue 600,000 (10 minutes)
   */
  readonly waitTimeoutMs?: number
}

/** What a run has undone. */
export interface MigrateDownReport {
  /** The names of the migrations that it undid, in that order. */
  readonly undone: readonly string[]
}

/** A table that `migrateDown` would drop. */
export interface DroppedTable {
  /** Its name, without the schema. */
  readonly table: string
  /** How many rows go with it. */
  readonly rows: number
}

/**
 * Undoes migrations, in one transaction: their tables are dropped, and every row in them. Keys open
 * again, and what is emitted and not published is lost. `describeMigrateDown` says beforehand what
 * goes. The schema and its table `oncely_migrations` stay.
 *
 * @throws OncelyError as `migrateToLatest` does.
 */
export async function migrateDown<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrateDownOptions = {},
): Promise<MigrateDownReport> {
  const { schema, steps, waitTimeoutMs } = resolve(options)
  const plan = (state: Bookkeeping) => planDown(schema, state, steps)
  return { undone: await runPlan(db, schema, waitTimeoutMs, plan) }
}

/**
 * What `migrateDown` would run, as a script for `psql`. Runs nothing.
 *
 * @returns an empty text when there is nothing to undo.
 * @throws OncelyError as `migrateToLatestScript` does.
 */
export async function migrateDownScript<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrateDownOptions = {},
): Promise<string> {
  const { schema, steps } = resolve(options)
  const plan = await planDown(schema, await readBookkeeping(db, schema), steps)
  return plan.length === 0 ? '' : scriptOf(plan)
}

/**
 * What `migrateDown` would drop, and how much is in it. Counts every row. Changes nothing.
 *
 * @throws OncelyError as `migrateToLatestScript` does; `schema_missing` for a table that is not there.
 */
export async function describeMigrateDown<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrateDownOptions = {},
): Promise<readonly DroppedTable[]> {
  const { schema, steps } = resolve(options)
  const plan = await planDown(schema, await readBookkeeping(db, schema), steps)
  const own = enter(db, schema)
  const dropped: DroppedTable[] = []
  for (const table of plan.flatMap((step) => tablesOf(step, schema))) {
    const { rows } = await own.run(
      sql<{ rows: number }>`
        select count(*)::float8 as rows from ${sql.id(schema, table)}`.compile(own.tables),
    )
    dropped.push({ table, rows: rows[0]?.rows ?? 0 })
  }
  return dropped
}

function tablesOf({ name }: Step, schema: string): readonly string[] {
  return allMigrations[name]?.(schema).tables ?? []
}

function resolve(options: MigrateDownOptions): Required<MigrateDownOptions> {
  checkNames(options, ['schema', 'steps', 'waitTimeoutMs'])
  const { schema = DEFAULT_SCHEMA, steps = 1, waitTimeoutMs = 600_000 } = options
  checkSchema(schema)
  checkTimeout('waitTimeoutMs', waitTimeoutMs)
  if (steps !== Infinity && (!Number.isInteger(steps) || steps < 1)) {
    throw new OncelyError('invalid_options', 'steps must be a whole number from 1, or Infinity')
  }
  return { schema, steps, waitTimeoutMs }
}
