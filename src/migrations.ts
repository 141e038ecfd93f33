export { diagnose, type DiagnoseOptions, type Diagnosis, type PoolLike } from './doctor/diagnose.ts'
export type { Finding } from './doctor/finding.ts'
export { grants, type GrantOptions } from './migrate/grants.ts'
export {
  describeDown,
  downScript,
  type DroppedTable,
  migrateDown,
  type MigrateDownOptions,
} from './migrate/migrate-down.ts'
export {
  type MigrateOptions,
  migrateToLatest,
  migrationScript,
} from './migrate/migrate-to-latest.ts'
export { type MigrationState, migrationStatus } from './migrate/status.ts'
