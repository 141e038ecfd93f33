import { catalogue as expected } from '../../codegen/catalogue.ts'
import type { CatalogueEntry } from './catalogue.ts'
import type { Finding } from './finding.ts'
import { creation, described, removal, replacement } from './mends.ts'

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
  const ours = (entry: CatalogueEntry) => tables.includes(entry.table)
  const found = new Map(actual.filter(ours).map((entry) => [keyOf(entry), entry]))
  const wanted = new Map(expected.filter(ours).map((entry) => [keyOf(entry), entry]))
  const missing = [...wanted].flatMap(([key, entry]) => {
    const there = found.get(key)
    // Without its table nothing else of it is there either.
    if (!there)
      return entry.kind !== 'table' && !found.has(tableOf(entry)) ? [] : missingOf(entry, schema)
    return there.definition === entry.definition ? [] : differentOf(entry, there, schema)
  })
  const added = [...found].flatMap(([key, entry]) =>
    wanted.has(key) ? [] : addedOf(entry, schema),
  )
  return [...missing, ...added]
}

const keyOf = ({ kind, table, name }: CatalogueEntry) => `${kind} ${table} ${name}`
const tableOf = ({ table }: CatalogueEntry) =>
  keyOf({ kind: 'table', table, name: table, definition: '' })

function missingOf(entry: CatalogueEntry, schema: string): Finding {
  return {
    code: 'schema_drift',
    problem: `${described(entry)} is missing${entry.kind === 'table' ? ', and all of its rows' : ''}`,
    mend: creation(entry, schema),
  }
}

function differentOf(entry: CatalogueEntry, there: CatalogueEntry, schema: string): Finding {
  return {
    code: 'schema_drift',
    problem: `${described(entry)} is "${there.definition}" and should be "${entry.definition}"`,
    mend: replacement(entry, there, schema),
  }
}

function addedOf(entry: CatalogueEntry, schema: string): readonly Finding[] {
  // An index only costs; a column that may be left out costs not even that.
  const harmless = entry.kind === 'index' && !/ unique /i.test(entry.definition)
  const optional = entry.kind === 'column' && !/not null(?!.* default )/.test(entry.definition)
  if (harmless || optional || entry.kind === 'function') return []
  return [
    {
      code: 'schema_drift',
      problem: `${described(entry)} is not of oncely, and can fail its statements`,
      mend: removal(entry, schema),
    },
  ]
}
