import type { Kysely } from 'kysely'

import { type CatalogueEntry, readCatalogue } from '../src/doctor/catalogue.ts'

/**
 * One schema as SQL that people review: the domains and functions, every table with its columns and constraints,
 * then indexes, in PostgreSQL's own words and in an order that never changes.
 */
export async function dumpSchema(db: Kysely<unknown>, schema: string): Promise<string> {
  return sqlOf(await readCatalogue(db, schema))
}

/** @param catalogue - in the order in which `readCatalogue` gives it. */
export function sqlOf(catalogue: readonly CatalogueEntry[]): string {
  const statements = catalogue.flatMap((entry) => {
    if (entry.kind === 'table') return tableOf(entry, catalogue)
    if (entry.kind === 'domain') return domainOf(entry, catalogue)
    const parts = ['domain constraint', 'column', 'constraint']
    return parts.includes(entry.kind) ? [] : entry.definition
  })
  return statements.map((statement) => `${statement};\n`).join('\n')
}

function domainOf({ name, definition }: CatalogueEntry, catalogue: readonly CatalogueEntry[]) {
  const constraints = catalogue
    .filter(({ kind, table }) => kind === 'domain constraint' && table === name)
    .map((constraint) => `\n  constraint ${constraint.name} ${constraint.definition}`)
  return `create domain ${name} as ${definition}${constraints.join('')}`
}

function tableOf(table: CatalogueEntry, catalogue: readonly CatalogueEntry[]): string {
  const lines = catalogue
    .filter((entry) => entry.table === table.name)
    .flatMap(({ kind, name, definition }) => {
      if (kind === 'column') return `  ${name} ${definition}`
      return kind === 'constraint' ? `  constraint ${name} ${definition}` : []
    })
  return `create ${table.definition} ${table.name} (\n${lines.join(',\n')}\n)`
}
