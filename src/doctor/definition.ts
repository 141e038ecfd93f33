import { catalogue } from '../../codegen/catalogue.ts'
import { quoted } from '../migrate/statements.ts'
import type { CatalogueEntry } from './catalogue.ts'

const functionNames = catalogue.flatMap(({ kind, name }) => (kind === 'function' ? [name] : []))

/** How people call it. */
export function described({ kind, table, name }: CatalogueEntry): string {
  if (kind === 'domain constraint') return `the constraint ${name} of the domain ${table}`
  return ['table', 'domain', 'function'].includes(kind)
    ? `the ${kind} ${name}`
    : `the ${kind} ${name} of ${table}`
}

/** The domains that columns of these tables are of. */
export function domainsOf(tables: readonly string[]): readonly string[] {
  const columns = catalogue.filter(({ kind, table }) => kind === 'column' && tables.includes(table))
  const types = new Set(columns.map(({ definition }) => partsOf(definition).type))
  return [...types].filter(isDomain)
}

/** The functions that rules of these tables call. */
export function functionsOf(tables: readonly string[]): readonly string[] {
  const rules = catalogue.filter(
    ({ kind, table }) => kind === 'constraint' && tables.includes(table),
  )
  return functionNames.filter((name) =>
    rules.some(({ definition }) => definition.includes(`(${name}(`)),
  )
}

function isDomain(type: string): boolean {
  return catalogue.some(({ kind, name }) => kind === 'domain' && name === type)
}

/** Whether rows that are there need a value for this column before it can be NOT NULL. */
export function fillable(definition: string): boolean {
  return / not null$/.test(definition)
}

/** A column's definition names its domain without the schema. */
export function qualified(definition: string, schema: string): string {
  const { type } = partsOf(definition)
  return isDomain(type) ? quoted(schema, type) + definition.slice(type.length) : definition
}

/** A foreign key names its table without the schema, and a check its function. */
export function qualifiedConstraint(definition: string, schema: string): string {
  return definition.replace(
    new RegExp(` REFERENCES |(?<=\\()(?=(?:${functionNames.join('|')})\\()`),
    (place) => `${place}${quoted(schema)}.`,
  )
}

/** `bigint not null generated always as identity`, `text collate "C" default 'x'` */
export function partsOf(definition: string) {
  const [, type = '', notNull, identity, byDefault] =
    /^(.+?)( not null)?( generated .+)?(?: default (.+))?$/.exec(definition) ?? []
  return { type, notNull, identity, byDefault }
}
