import type { Kysely, Transaction } from 'kysely'

import { checkNames, checkSchema } from '../checks.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { readBookkeeping } from './bookkeeping.ts'
import { allMigrations, isKnown, pendingNames } from './plan.ts'

/** One migration, and whether the database has it. */
export interface MigrationState {
  /** The migration's name, such as `0001-records`. */
  readonly name: string
  /**
   * - `applied`
   * - `pending`: `migrateToLatest` would apply it.
   * - `optional`: the reference orders, which nobody has asked for.
   * - `unknown`: applied by a newer version of oncely than this one.
   */
  readonly state: 'applied' | 'pending' | 'optional' | 'unknown'
  /** When it was applied, by the clock of the machine that did; none where it is not. */
  readonly appliedAt?: Date
}

/** Where to look. */
export interface MigrationStatusOptions {
  /**
   * The schema that the tables are in.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
}

/**
 * Which migrations the database has. Changes nothing.
 *
 * @returns the applied ones in the order in which they were applied, then those that are not.
 * @throws OncelyError `server_too_old`, `invalid_options`, `access_denied`.
 */
export async function migrationStatus<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options: MigrationStatusOptions = {},
): Promise<readonly MigrationState[]> {
  checkNames(options, ['schema'])
  const { schema = DEFAULT_SCHEMA } = options
  checkSchema(schema)
  const state = await readBookkeeping(db, schema)
  const names = new Set(state.applied.map(({ name }) => name))
  const pending = pendingNames(state, false)
  return [
    ...state.applied.map(({ name, appliedAt }) => ({
      name,
      appliedAt,
      state: isKnown(name) ? ('applied' as const) : ('unknown' as const),
    })),
    ...Object.keys(allMigrations)
      .filter((name) => !names.has(name))
      .map((name) => ({
        name,
        state: pending.includes(name) ? ('pending' as const) : ('optional' as const),
      })),
  ]
}
