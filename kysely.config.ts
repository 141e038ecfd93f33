// For kysely-ctl: `DATABASE_URL=… npx kysely migrate list`.
import { defineConfig } from 'kysely-ctl'
import { PostgresDialect } from 'kysely'
import { Pool } from 'pg'

import { bookkeeping, coreMigrations, migrationsFor, ordersMigrations } from './migrations/index.ts'
import { DEFAULT_SCHEMA } from './src/options.ts'

const url = process.env['DATABASE_URL']
if (!url) throw new Error('set DATABASE_URL to the connection string of the database to migrate')

const sets = [coreMigrations, ordersMigrations]

export default defineConfig({
  dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
  migrations: {
    ...bookkeeping,
    migrationTableSchema: DEFAULT_SCHEMA,
    provider: { getMigrations: () => Promise.resolve(migrationsFor(DEFAULT_SCHEMA, sets)) },
  },
})
