import type { Kysely } from 'kysely'

import { ordersMigrations } from '../../migrations/index.ts'
import { checkNames, checkSchema, DEFAULT_SCHEMA } from '../options.ts'
import { readBookkeeping } from './bookkeeping.ts'
import { allMigrations } from './plan.ts'

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

/**
 * Which migrations the database has. Changes nothing.
 *
 * @returns the applied ones in the order in which they were applied, then those that are not.
 * @throws OncelyError `server_too_old`, `invalid_options`, `access_denied`.
 */
export async function migrationStatus<DB>(
  db: Kysely<DB>,
  options: { readonly schema?: string } = {},
): Promise<readonly MigrationState[]> {
  checkNames(options, ['schema'])
  const { schema = DEFAULT_SCHEMA } = options
  checkSchema(schema)
  const { applied } = await readBookkeeping(db, schema)
  const known = new Set(applied.map(({ name }) => name))
  return [
    ...applied.map(({ name, appliedAt }) => ({
      name,
      appliedAt,
      state: name in allMigrations ? ('applied' as const) : ('unknown' as const),
    })),
    ...Object.keys(allMigrations)
      .filter((name) => !known.has(name))
      .map((name) => ({
        name,
        state: name in ordersMigrations ? ('optional' as const) : ('pending' as const),
      })),
  ]
}
