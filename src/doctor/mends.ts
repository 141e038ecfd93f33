import { sql } from 'kysely'

import { catalogue } from '../../codegen/catalogue.ts'
import { quoted, textOf } from '../migrate/statements.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { fillable, partsOf, qualified, qualifiedConstraint } from './definition.ts'

/** SQL that makes what is missing; of a table or a domain, with all that belongs to it. */
export function creation(entry: CatalogueEntry, schema: string): string {
  const { kind, table, name, definition } = entry
  const [on, id] = [quoted(schema, table), quoted(name)]
  if (kind === 'domain') return creationOfDomain(entry, schema)
  if (kind === 'domain constraint') return `alter domain ${on} add constraint ${id} ${definition};`
  // A definition names its function without the schema.
  if (kind === 'function')
    return `${definition.replace('FUNCTION ', () => `FUNCTION ${quoted(schema)}.`)};`
  if (kind === 'table') return creationOfTable(table, schema)
  if (kind === 'column') return creationOfColumn(entry, schema)
  if (kind === 'constraint') {
    return `alter table ${on} add constraint ${id} ${qualifiedConstraint(definition, schema)};`
  }
  // A definition names its table without the schema.
  return `begin; set local search_path to ${quoted(schema)}; ${definition}; commit;`
}

/** For a table with rows, none of which is given a value that nobody knows to be right. */
function creationOfColumn({ table, name, definition }: CatalogueEntry, schema: string): string {
  const [on, id] = [quoted(schema, table), quoted(name)]
  const { notNull, byDefault } = partsOf(definition)
  if (notNull === undefined && byDefault !== undefined) {
    const bare = definition.slice(0, -` default ${byDefault}`.length)
    return `alter table ${on} add column ${id} ${qualified(bare, schema)}, alter column ${id} set default ${byDefault};`
  }
  const addable = fillable(definition) ? definition.replace(' not null', '') : definition
  return `alter table ${on} add column ${id} ${qualified(addable, schema)};`
}

function creationOfDomain({ name, definition }: CatalogueEntry, schema: string): string {
  const constraints = catalogue
    .filter(({ kind, table }) => kind === 'domain constraint' && table === name)
    .map((constraint) => ` constraint ${quoted(constraint.name)} ${constraint.definition}`)
  return `create domain ${quoted(schema, name)} as ${definition}${constraints.join('')};`
}

function creationOfTable(table: string, schema: string): string {
  const entries = catalogue.filter((entry) => entry.table === table && entry.kind !== 'table')
  const isColumn = ({ kind }: CatalogueEntry) => kind === 'column'
  const columns = entries
    .filter(isColumn)
    .map((entry) => `${quoted(entry.name)} ${qualified(entry.definition, schema)}`)
  const others = entries.filter((entry) => !isColumn(entry)).map((entry) => creation(entry, schema))
  return [`create table ${quoted(schema, table)} (${columns.join(', ')});`, ...others].join(' ')
}

/** SQL that takes away what should not be there. */
export function removal({ kind, table, name }: CatalogueEntry, schema: string): string {
  const [on, id] = [quoted(schema, table), quoted(name)]
  switch (kind) {
    case 'column':
      // Its values are the host's: they stay.
      return `alter table ${on} alter column ${id} drop not null;`
    case 'constraint':
      return `alter table ${on} drop constraint ${id};`
    case 'domain constraint':
      return `alter domain ${on} drop constraint ${id};`
    case 'trigger':
    case 'rule':
      return `drop ${kind} ${id} on ${on};`
    case 'domain':
    case 'function':
    case 'table':
    case 'index':
      return `drop ${kind} ${quoted(schema, name)};`
  }
}

/** SQL that makes what is there as it should be. */
export function replacement(wanted: CatalogueEntry, there: CatalogueEntry, schema: string): string {
  const on = quoted(schema, wanted.table)
  if (wanted.kind === 'table') {
    return `alter table ${on} set logged; alter table ${on} no force row level security; alter table ${on} disable row level security;`
  }
  if (wanted.kind === 'domain') return domainReplacement(wanted, there, schema)
  if (wanted.kind === 'column') return columnReplacement(wanted, there, schema)
  // Its definition takes the place of the one that is there, which is in use.
  if (wanted.kind === 'function') return creation(wanted, schema)
  return `${removal(wanted, schema)} ${creation(wanted, schema)}`
}

/** Whether it is a domain of another type, which cannot be changed: it is put aside and made anew. */
export function isRemade(wanted: CatalogueEntry, there: CatalogueEntry | undefined): boolean {
  if (wanted.kind !== 'domain' || !there) return false
  return partsOf(there.definition).type !== partsOf(wanted.definition).type
}

function domainReplacement(wanted: CatalogueEntry, there: CatalogueEntry, schema: string): string {
  const id = quoted(schema, wanted.name)
  if (!isRemade(wanted, there)) {
    return `alter domain ${id} drop not null; alter domain ${id} drop default;`
  }
  const columns = catalogue.filter(
    ({ kind, definition }) => kind === 'column' && partsOf(definition).type === wanted.name,
  )
  return [
    `alter domain ${id} rename to ${quoted(`${wanted.name}_replaced`)};`,
    creation(wanted, schema),
    ...columns.map(({ table, name }) => {
      const column = quoted(name)
      return `alter table if exists ${quoted(schema, table)} alter ${column} type ${id} using ${column}::${id};`
    }),
  ].join(' ')
}

function columnReplacement(wanted: CatalogueEntry, actual: CatalogueEntry, schema: string): string {
  const [on, id] = [quoted(schema, wanted.table), quoted(wanted.name)]
  const [there, is] = [partsOf(actual.definition), partsOf(wanted.definition)]
  const type = qualified(is.type, schema)
  const cast = qualified(is.type.replace(/ collate .*/, ''), schema)
  const identity = there.identity === undefined ? `add${is.identity}` : 'set generated always'
  const changes = [
    there.byDefault === undefined ? [] : 'drop default',
    there.type === is.type ? [] : `type ${type} using ${id}::${cast}`,
    there.notNull === is.notNull ? [] : `${is.notNull === undefined ? 'drop' : 'set'} not null`,
    is.byDefault === undefined ? [] : `set default ${is.byDefault}`,
    is.identity === there.identity || is.identity === undefined ? [] : identity,
  ].flat()
  const alter = `alter table ${on} ${changes.map((change) => `alter ${id} ${change}`).join(', ')};`
  // An identity that is made anew starts behind the values that are there.
  return is.identity === undefined ? alter : `${alter} ${continuing(on, wanted.name)}`
}

function continuing(on: string, column: string): string {
  const sequence = `pg_get_serial_sequence(${textOf(sql.lit(on))}, ${textOf(sql.lit(column))})`
  return `select setval(${sequence}, (select coalesce(max(${quoted(column)}), 0) + 1 from ${on}), false);`
}
