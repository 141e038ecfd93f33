import { catalogue as expected } from '../../codegen/catalogue.ts'
import { quoted } from '../migrate/statements.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { described, domainsOf, fillable, functionsOf } from './definition.ts'
import type { Finding } from './finding.ts'
import { creation, isRemade, removal, replacement } from './mends.ts'

/**
 * Where tables are not as their migrations made them.
 *
 * @param tables - those of the applied migrations.
 */
export function driftOf(
  actual: readonly CatalogueEntry[],
  tables: readonly string[],
  schema: string,
): readonly Finding[] {
  const parts = [...domainsOf(tables), ...functionsOf(tables), ...tables]
  const ours = (entry: CatalogueEntry) => parts.includes(entry.table)
  const found = new Map(actual.filter(ours).map((entry) => [keyOf(entry), entry]))
  const wanted = new Map(expected.filter(ours).map((entry) => [keyOf(entry), entry]))
  // Its mend makes such a domain anew, with its constraints.
  const remade = [...wanted].filter(([key, entry]) => isRemade(entry, found.get(key)))
  for (const [, { name }] of remade) {
    for (const entries of [found, wanted]) {
      for (const [key, { kind, table }] of entries) {
        if (kind === 'domain constraint' && table === name) entries.delete(key)
      }
    }
  }
  const missing = [...wanted].flatMap(([key, entry]) => {
    const there = found.get(key)
    // Without its table, or its domain, nothing else of it is there either.
    if (!there && keyOf(entry) !== ownerOf(entry) && !found.has(ownerOf(entry))) return []
    if (!there) return missingOf(entry, schema)
    return there.definition === entry.definition ? [] : differentOf(entry, there, schema)
  })
  const added = [...found].flatMap(([key, entry]) =>
    wanted.has(key) || isHarmless(entry) ? [] : addedOf(entry, schema),
  )
  // What is in the way goes first: a constraint that was renamed, such as the primary key.
  return [...added, ...missing]
}

/** Whether something is there as its migration made it, whatever else is not. */
export function isAsMade(
  actual: readonly CatalogueEntry[],
  wanted: Omit<CatalogueEntry, 'definition'>,
): boolean {
  const [there, made] = [actual, expected].map(
    (entries) => entries.find((entry) => keyOf(entry) === keyOf(wanted))?.definition,
  )
  return there !== undefined && there === made
}

const keyOf = ({ kind, table, name }: Omit<CatalogueEntry, 'definition'>) =>
  `${kind} ${table} ${name}`
const ownerOf = ({ kind, table }: CatalogueEntry) =>
  keyOf({ kind: owners[kind] ?? 'table', table, name: table })
const owners: Partial<Record<CatalogueEntry['kind'], CatalogueEntry['kind']>> = {
  domain: 'domain',
  'domain constraint': 'domain',
  function: 'function',
}

function missingOf(entry: CatalogueEntry, schema: string): Finding {
  const problem = `${described(entry)} is missing`
  const sql = creation(entry, schema)
  const found = { code: 'schema_drift', sql } as const
  if (entry.kind === 'table') {
    return {
      ...found,
      problem: `${problem}, and all of its rows`,
      mend: 'restore it, or make it anew',
    }
  }
  if (entry.kind === 'column' && fillable(entry.definition)) {
    const column = `alter table ${quoted(schema, entry.table)} alter column ${quoted(entry.name)}`
    return {
      ...found,
      problem: `${problem}, and all of its values`,
      mend: `add it, fill it for the rows that are there, then: ${column} set not null;`,
    }
  }
  return { ...found, problem, mend: 'make it anew' }
}

function differentOf(entry: CatalogueEntry, there: CatalogueEntry, schema: string): Finding {
  return {
    code: 'schema_drift',
    problem: `${described(entry)} is "${line(there)}" and should be "${line(entry)}"`,
    mend:
      entry.kind === 'column'
        ? 'make it as it should be; look first at what a cast makes of the values'
        : 'make it as it should be',
    sql: replacement(entry, there, schema),
  }
}

function line({ definition }: CatalogueEntry): string {
  return definition.replace(/\s+/g, ' ')
}

/** An index only costs; a column that may be left out costs not even that. */
function isHarmless({ kind, definition }: CatalogueEntry): boolean {
  if (kind === 'column') return !fillable(definition)
  return kind === 'index' && !/ unique /i.test(definition)
}

function addedOf(entry: CatalogueEntry, schema: string): Finding {
  return {
    code: 'schema_drift',
    problem: `${described(entry)} is not of oncely, and can fail its statements`,
    mend: 'take it away, unless you know that it fails none',
    sql: removal(entry, schema),
  }
}
