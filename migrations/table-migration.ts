import type { Migration } from 'kysely/migration'

/** A migration that creates tables, and knows which of them `down` takes away, rows and all. */
export interface TableMigration extends Migration {
  readonly tables: readonly string[]
  down: NonNullable<Migration['down']>
}
