import type { Kysely } from 'kysely'

import { ordersMigrations } from '../../migrations/index.ts'
import { checkNames, checkSchema, DEFAULT_SCHEMA } from '../options.ts'
import { readBookkeeping } from './bookkeeping.ts'
import { allMigrations } from './plan.ts'

/** One migration, and whether the database has it. */
export type MigrationState =
  | { readonly name: string; readonly state: 'applied'; readonly appliedAt: Date }
  | { readonly name: string; readonly state: 'pending' }
  /** Not asked for: the reference orders. */
  | { readonly name: string; readonly state: 'optional' }
  /** Applied by a newer version of oncely than this one. */
  | { readonly name: string; readonly state: 'unknown'; readonly appliedAt: Date }

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
