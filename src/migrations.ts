export { migrateToLatest, type MigrateOptions } from './migrate/migrate-to-latest.ts'
