import type { MigrationState } from '../migrate/status.ts'
import type { Finding } from './finding.ts'

/** Migrations that the database lacks, or that this version does not know. */
export function migrationFindings(
  states: readonly MigrationState[],
  schema: string,
): readonly Finding[] {
  const inState = (wanted: MigrationState['state']) =>
    states.filter(({ state }) => state === wanted).map(({ name }) => name)
  const [pending, unknown] = [inState('pending'), inState('unknown')]
  const mend = `npx oncely migrate${schema === 'idem' ? '' : ` --schema '${schema}'`}`
  if (inState('applied').length === 0 && unknown.length === 0) {
    return [{ code: 'schema_missing', problem: `no tables in the schema '${schema}'`, mend }]
  }
  return [
    ...(pending.length === 0
      ? []
      : [
          { code: 'schema_outdated', problem: `not applied: ${pending.join(', ')}`, mend } as const,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          {
            code: 'schema_newer',
            problem: `applied by a newer version of oncely: ${unknown.join(', ')}`,
            mend: 'npm install oncely@latest',
          } as const,
        ]),
  ]
}
