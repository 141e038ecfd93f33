export { diagnose, type DiagnoseOptions, type Diagnosis, type PoolLike } from './doctor/diagnose.ts'
export type { Finding } from './doctor/finding.ts'
export { type GrantOptions, grantStatements } from './migrate/grants.ts'
export {
  describeMigrateDown,
  type DroppedTable,
  migrateDown,
  type MigrateDownOptions,
  type MigrateDownReport,
  migrateDownScript,
} from './migrate/migrate-down.ts'
export {
  type MigrateOptions,
  migrateToLatest,
  migrateToLatestScript,
  type MigrationReport,
} from './migrate/migrate-to-latest.ts'
export {
  type MigrationState,
  migrationStatus,
  type MigrationStatusOptions,
} from './migrate/status.ts'
