import { bookkeeping } from '../../migrations/index.ts'
import { allMigrations, bookkeepingAnew } from '../migrate/plan.ts'
import type { MigrationState } from '../migrate/status.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { driftOf } from './drift.ts'
import type { Finding } from './finding.ts'

/** Migrations that the database lacks, or that this version does not know. */
export function migrationFindings(
  states: readonly MigrationState[],
  schema: string,
): readonly Finding[] {
  const inState = (wanted: MigrationState['state']) =>
    states.filter(({ state }) => state === wanted).map(({ name }) => name)
  const [pending, unknown] = [inState('pending'), inState('unknown')]
  const mend = `npx oncely migrate${schema === DEFAULT_SCHEMA ? '' : ` --schema ${word(schema)}`}`
  const findings: Finding[] = []
  if (inState('applied').length === 0 && unknown.length === 0) {
    findings.push({ code: 'schema_missing', problem: `no tables in the schema '${schema}'`, mend })
  } else if (pending.length > 0) {
    findings.push({ code: 'schema_outdated', problem: `not applied: ${pending.join(', ')}`, mend })
  }
  if (unknown.length > 0) {
    findings.push({
      code: 'schema_newer',
      problem: `applied by a newer version of oncely: ${unknown.join(', ')}`,
      mend: 'npm install oncely@latest',
    })
  }
  return findings
}

/** Where nobody can tell what is applied: the table that knows is gone, or another than it was. */
export function lostBookkeeping(
  catalogue: readonly CatalogueEntry[],
  schema: string,
): readonly Finding[] {
  const table = bookkeeping.migrationTableName
  const tables = catalogue.flatMap(({ kind, name }) => (kind === 'table' ? [name] : []))
  if (tables.includes(table)) return driftOf(catalogue, [table], schema)
  return forgotten(catalogue, [], schema, false)
}

/**
 * Migrations whose tables are there and as they should be, of which the bookkeeping does not know.
 *
 * @param known - those that it knows.
 */
export function forgotten(
  catalogue: readonly CatalogueEntry[],
  known: readonly string[],
  schema: string,
  tableExists = true,
): readonly Finding[] {
  const names = Object.keys(allMigrations).filter((name) => {
    const tables = allMigrations[name]?.(schema).tables ?? []
    return !known.includes(name) && driftOf(catalogue, tables, schema).length === 0
  })
  if (names.length === 0) return []
  return [
    {
      code: 'schema_drift',
      problem: `the tables of ${names.join(', ')} are there, and ${bookkeeping.migrationTableName} does not know it`,
      mend: 'put it down again',
      sql: bookkeepingAnew(schema, names, tableExists)
        .map((statement) => `${statement};`)
        .join(' '),
    },
  ]
}

/** As one word of a shell. */
function word(text: string): string {
  return `'${text.replaceAll("'", () => "'\\''")}'`
}
