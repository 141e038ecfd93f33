import { type RawBuilder, sql } from 'kysely'

import {
  bookkeeping,
  coreMigrations,
  type MigrationSet,
  ordersMigrations,
} from '../../migrations/index.ts'
import { OncelyError } from '../errors.ts'
import { type AppliedMigration, type Bookkeeping, bookkeepingStatements } from './bookkeeping.ts'
import { statementsOf, textOf } from './statements.ts'

/** One migration, up or down, as the statements that are run or printed. */
export interface Step {
  readonly name: string
  readonly statements: readonly string[]
}

export const allMigrations: MigrationSet = { ...coreMigrations, ...ordersMigrations }

/** What is still to be applied: the orders only if asked for, or if any of theirs was before. */
export function pendingNames({ applied }: Bookkeeping, withOrders: boolean): readonly string[] {
  const names = new Set(applied.map(({ name }) => name))
  const included = withOrders || Object.keys(ordersMigrations).some((name) => names.has(name))
  const wanted = included ? allMigrations : coreMigrations
  return Object.keys(wanted).filter((name) => !names.has(name))
}

/** Whether this version of oncely has a migration of that name. */
export function isKnown(name: string): boolean {
  return Object.hasOwn(allMigrations, name)
}

export async function planUp(
  schema: string,
  state: Bookkeeping,
  withOrders: boolean,
): Promise<readonly Step[]> {
  refuseNewer(state)
  const steps = pendingNames(state, withOrders).map((name, index) =>
    stepOf(schema, name, 'up', remembering(schema, name, nextTimestamp(state.applied, index))),
  )
  const [first, ...others] = await Promise.all(steps)
  if (!first) return []
  const before = bookkeepingStatements(schema, state).map(textOf)
  return [{ ...first, statements: [...before, ...first.statements] }, ...others]
}

/** The bookkeeping of a schema that has lost it, for migrations whose tables are there. */
export function bookkeepingAnew(
  schema: string,
  names: readonly string[],
  tableExists: boolean,
): readonly string[] {
  const state = { schemaExists: true, tableExists, applied: [] }
  const remember = names.map((name, index) =>
    remembering(schema, name, nextTimestamp(state.applied, index)),
  )
  return [...bookkeepingStatements(schema, state), ...remember].map(textOf)
}

function remembering(schema: string, name: string, timestamp: string): RawBuilder<unknown> {
  const table = sql.id(schema, bookkeeping.migrationTableName)
  return sql`insert into ${table} (name, "timestamp") values (${sql.lit(name)}, ${sql.lit(timestamp)})`
}

/** @param count - how many of the applied ones to undo, the last one first. */
export async function planDown(
  schema: string,
  state: Bookkeeping,
  count: number,
): Promise<readonly Step[]> {
  refuseNewer(state)
  const table = sql.id(schema, bookkeeping.migrationTableName)
  const steps = state.applied
    .toReversed()
    .slice(0, count)
    .map(({ name }) =>
      stepOf(schema, name, 'down', sql`delete from ${table} where name = ${sql.lit(name)}`),
    )
  return Promise.all(steps)
}

/** @throws OncelyError `schema_newer`. */
function refuseNewer({ applied }: Bookkeeping): void {
  const unknown = applied.map(({ name }) => name).filter((name) => !isKnown(name))
  if (unknown.length === 0) return
  throw new OncelyError(
    'schema_newer',
    `the database is newer than this version of oncely, which does not know ${unknown.join(', ')}: upgrade oncely`,
  )
}

/** Later than any that is there, even when this machine's clock is behind. */
function nextTimestamp(applied: readonly AppliedMigration[], index: number): string {
  const last = applied.at(-1)?.appliedAt.getTime() ?? 0
  return new Date(Math.max(Date.now(), last + 1) + index).toISOString()
}

async function stepOf(
  schema: string,
  name: string,
  direction: 'up' | 'down',
  remember: RawBuilder<unknown>,
): Promise<Step> {
  const migration = allMigrations[name]?.(schema)
  const statements = migration ? await statementsOf((db) => migration[direction](db)) : []
  return { name, statements: [...statements, textOf(remember)] }
}
