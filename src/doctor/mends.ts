import { sql } from 'kysely'

import { catalogue } from '../../codegen/catalogue.ts'
import { textOf } from '../migrate/statements.ts'
import type { CatalogueEntry } from './catalogue.ts'

/** How people call it. */
export function described({ kind, table, name }: CatalogueEntry): string {
  return kind === 'table' || kind === 'function'
    ? `the ${kind} ${name}`
    : `the ${kind} ${name} of ${table}`
}

/** SQL that makes what is missing; of a table, with all that belongs to it. */
export function creation(entry: CatalogueEntry, schema: string): string {
  const { kind, table, name, definition } = entry
  const [on, id] = [quoted(schema, table), quoted(name)]
  if (kind === 'table') return creationOfTable(table, schema)
  if (kind === 'column') return `alter table ${on} add column ${id} ${definition};`
  if (kind === 'constraint') return `alter table ${on} add constraint ${id} ${definition};`
  // A definition names its table and its function without their schema.
  const statement = definition
    .replace(/^create function/, 'create or replace function')
    .replaceAll('"idem".', `${quoted(schema)}.`)
  return `set search_path to ${quoted(schema)}; ${statement};`
}

function creationOfTable(table: string, schema: string): string {
  const entries = catalogue.filter((entry) => entry.table === table && entry.kind !== 'table')
  const isColumn = ({ kind }: CatalogueEntry) => kind === 'column'
  const columns = entries
    .filter(isColumn)
    .map((entry) => `${quoted(entry.name)} ${entry.definition}`)
  const others = entries.filter((entry) => !isColumn(entry)).map((entry) => creation(entry, schema))
  return [`create table ${quoted(schema, table)} (${columns.join(', ')});`, ...others].join(' ')
}

/** SQL that takes away what should not be there. */
export function removal({ kind, table, name }: CatalogueEntry, schema: string): string {
  const [on, id] = [quoted(schema, table), quoted(name)]
  if (kind === 'column' || kind === 'constraint') return `alter table ${on} drop ${kind} ${id};`
  return kind === 'trigger'
    ? `drop trigger ${id} on ${on};`
    : `drop ${kind} ${quoted(schema, name)};`
}

/** SQL that makes what is there as it should be. */
export function replacement(wanted: CatalogueEntry, there: CatalogueEntry, schema: string): string {
  const on = quoted(schema, wanted.table)
  if (wanted.kind === 'table') {
    return `alter table ${on} set logged; alter table ${on} disable row level security;`
  }
  if (wanted.kind === 'column') return columnReplacement(wanted, there, on)
  if (wanted.kind === 'function') return creation(wanted, schema)
  if (there.definition === `${wanted.definition} -- disabled`) {
    return `alter table ${on} enable trigger ${quoted(wanted.name)};`
  }
  return `${removal(wanted, schema)} ${creation(wanted, schema)}`
}

function columnReplacement(
  { name, definition }: CatalogueEntry,
  there: CatalogueEntry,
  on: string,
): string {
  const [, type = '', notNull, identity, byDefault] =
    /^(.+?)( not null)?( generated .+?)?(?: default (.+))?$/.exec(definition) ?? []
  const id = quoted(name)
  const changes = [
    byDefault === undefined ? [] : `alter ${id} drop default`,
    `alter ${id} type ${type} using ${id}::${type.replace(/ collate .*/, '')}`,
    `alter ${id} ${notNull === undefined ? 'drop' : 'set'} not null`,
    byDefault === undefined ? [] : `alter ${id} set default ${byDefault}`,
    identity === undefined || there.definition.includes(identity)
      ? []
      : `alter ${id} add${identity}`,
  ]
  return `alter table ${on} ${changes.flat().join(', ')};`
}

function quoted(...identifier: readonly string[]): string {
  return textOf(sql.id(...identifier))
}
