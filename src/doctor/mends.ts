import { sql } from 'kysely'

import { catalogue } from '../../codegen/catalogue.ts'
import { quoted, textOf } from '../migrate/statements.ts'
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
  if (kind === 'column') return `alter table ${on} add column ${id} ${addable(definition)};`
  if (kind === 'constraint') return `alter table ${on} add constraint ${id} ${definition};`
  if (kind === 'function') return creationOfFunction(entry, schema)
  // A definition names its table and its function without their schema.
  return `begin; set local search_path to ${quoted(schema)}; ${definition}; commit;`
}

/** A column that has to be given a value cannot be added where there are rows. */
function addable(definition: string): string {
  return fillable(definition) ? definition.replace(' not null', '') : definition
}

/** Whether rows that are there need a value for this column before it can be NOT NULL. */
export function fillable(definition: string): boolean {
  return / not null$/.test(definition)
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

function creationOfFunction({ name, definition }: CatalogueEntry, schema: string): string {
  const [, returns = '', body = ''] =
    /^create function \S+ returns (.+?) as \$\$([^]*)\$\$$/.exec(definition) ?? []
  const text = body.replaceAll('"$schema".', () => `${quoted(schema)}.`)
  return `create or replace function ${quoted(schema, name)}() returns ${returns} as ${textOf(sql.lit(text))};`
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
    case 'trigger':
    case 'rule':
      return `drop ${kind} ${id} on ${on};`
    case 'table':
    case 'index':
    case 'function':
      return `drop ${kind} ${quoted(schema, name)};`
  }
}

/** SQL that makes what is there as it should be. */
export function replacement(wanted: CatalogueEntry, there: CatalogueEntry, schema: string): string {
  const on = quoted(schema, wanted.table)
  if (wanted.kind === 'table') {
    return `alter table ${on} set logged; alter table ${on} no force row level security; alter table ${on} disable row level security;`
  }
  if (wanted.kind === 'column') return columnReplacement(wanted, there, on)
  if (wanted.kind === 'function') return creation(wanted, schema)
  if (wanted.kind === 'trigger' && there.definition.startsWith(`${wanted.definition} -- `)) {
    return `alter table ${on} enable trigger ${quoted(wanted.name)};`
  }
  return `${removal(wanted, schema)} ${creation(wanted, schema)}`
}

/** `bigint not null generated always as identity`, `text collate "C" default 'x'` */
function partsOf(definition: string) {
  const [, type = '', notNull, identity, byDefault] =
    /^(.+?)( not null)?( generated .+)?(?: default (.+))?$/.exec(definition) ?? []
  return { type, notNull, identity, byDefault }
}

function columnReplacement(wanted: CatalogueEntry, actual: CatalogueEntry, on: string): string {
  const id = quoted(wanted.name)
  const [there, is] = [partsOf(actual.definition), partsOf(wanted.definition)]
  const identity = there.identity === undefined ? `add${is.identity}` : 'set generated always'
  const changes = [
    there.byDefault === undefined ? [] : 'drop default',
    there.type === is.type
      ? []
      : `type ${is.type} using ${id}::${is.type.replace(/ collate .*/, '')}`,
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
