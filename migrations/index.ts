import type { Migration } from 'kysely/migration'

import { records } from './0001-records.ts'
import { outbox } from './0002-outbox.ts'
import { sink } from './0003-sink.ts'
import { orders } from './0004-orders.ts'
import type { TableMigration } from './table-migration.ts'

/** A migration for the schema it is given; the name is what the bookkeeping table remembers. */
export type MigrationSet = Readonly<Record<string, (schema: string) => TableMigration>>

// Listed by hand: a bundler cannot follow a folder that is read at run time.
/** The tables of the library. */
export const coreMigrations: MigrationSet = {
  '0001-records': records,
  '0002-outbox': outbox,
  '0003-sink': sink,
}

/** The reference orders, which a host gets only when it asks for them. */
export const ordersMigrations: MigrationSet = {
  '0004-orders': orders,
}

/**
 * Bookkeeping of our own. Two migrators on one table, the host's and ours, would each find the
 * other's entries and stop with "corrupted migrations".
 */
export const bookkeeping = {
  migrationTableName: 'oncely_migrations',
  migrationLockTableName: 'oncely_migrations_lock',
  // The two sets grow independently of each other.
  allowUnorderedMigrations: true,
} as const

/** The migrations of one or more sets for one schema, as Kysely's migrator wants them. */
export function migrationsFor(
  schema: string,
  sets: readonly MigrationSet[],
): Record<string, Migration> {
  return Object.fromEntries(
    sets.flatMap((set) =>
      Object.entries(set).map(([name, migration]) => [name, migration(schema)] as const),
    ),
  )
}
