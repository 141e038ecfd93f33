import type { Kysely } from 'kysely'

import { coreMigrations } from '../../migrations/index.ts'
import { allMigrations } from '../migrate/plan.ts'
import { type MigrationState, migrationStatus } from '../migrate/status.ts'
import { checkFlag, checkNames, checkSchema } from '../checks.ts'
import { DEFAULT_SCHEMA, resolveOptions } from '../options.ts'
import { OncelyError } from '../errors.ts'
import { refuseTransaction } from '../postgres/given.ts'
import { readCatalogue } from './catalogue.ts'
import { committedClaims } from './claims.ts'
import { driftOf, isAsMade } from './drift.ts'
import type { Finding } from './finding.ts'
import { type MissingGrant, missingGrants } from './grants.ts'
import { forgotten, lostBookkeeping, migrationFindings } from './migrations.ts'
import { readServer, serverFindings, serverNotes } from './server.ts'

/** What to look at. */
export interface DiagnoseOptions {
  /**
   * The schema that the tables are in.
   *
   * @defaultValue `'idem'`
   */
  readonly schema?: string
  /**
   * The `lockTimeoutMs` that the application uses, in milliseconds: the server's own timeouts are
   * held against it.
   *
   * @defaultValue 250, as in `createIdempotency`.
   */
  readonly lockTimeoutMs?: number
  /**
   * Whether the role also sweeps, and needs the rights to.
   *
   * @defaultValue false
   */
  readonly sweeper?: boolean
  /**
   * The pool of node-postgres below `db`, whose own timeout is then looked at, and whether it pipelines.
   */
  readonly pool?: PoolLike
}

/** The part of node-postgres's Pool that is looked at. */
export interface PoolLike {
  /** What the pool was made with. */
  readonly options: {
    /** Whether statements are sent without waiting for the one before. */
    readonly pipeline?: boolean | undefined
    /** How long node-postgres waits for a statement, in milliseconds. */
    readonly query_timeout?: number | undefined
  }
}

/** What was found. */
export interface Diagnosis {
  /** What has to be mended; empty when all is well. */
  readonly findings: readonly Finding[]
  /** What is good to know, one line each. */
  readonly notes: readonly string[]
}

/**
 * Looks whether a database is fit for oncely. Changes nothing.
 *
 * @param db - a Kysely as the application has it: of the same role, whose rights and settings are
 * what counts.
 * @throws OncelyError `invalid_options`; the driver's error when there is no connection.
 */
export async function diagnose<DB>(
  db: Kysely<DB>,
  options: DiagnoseOptions = {},
): Promise<Diagnosis> {
  refuseTransaction(db, 'diagnose')
  checkNames(options, ['schema', 'lockTimeoutMs', 'sweeper', 'pool'])
  const { schema = DEFAULT_SCHEMA, lockTimeoutMs, sweeper = false, pool } = options
  checkSchema(schema)
  checkFlag('sweeper', sweeper)
  if (pool !== undefined && !((Object(pool) as PoolLike).options instanceof Object)) {
    throw new OncelyError('invalid_options', 'pool must be a Pool of node-postgres')
  }
  const resolved = resolveOptions({ ...(lockTimeoutMs !== undefined && { lockTimeoutMs }) })
  const server = await readServer(db)
  const found = serverFindings(server, resolved.lockTimeoutMs, pool?.options)
  const notes = serverNotes(server, pool && pool.options.pipeline === true)
  if (found.some(({ code }) => code === 'server_too_old')) return { findings: found, notes }
  const grants = await missingGrants(db, schema, sweeper)
  const missing = grants.map(({ finding }) => finding)
  return { findings: [...found, ...missing, ...(await schemaFindings(db, schema, grants))], notes }
}

/** What of the schema can be looked at. Nothing is read of a column that is not as it should be. */
async function schemaFindings<DB>(
  db: Kysely<DB>,
  schema: string,
  grants: readonly MissingGrant[],
): Promise<readonly Finding[]> {
  if (grants.some(({ hides }) => hides)) return []
  const catalogue = await readCatalogue(db, schema)
  const lost = lostBookkeeping(catalogue, schema)
  if (lost.length > 0) return lost
  const states = await migrationStatus(db, { schema })
  const known = states.filter(({ appliedAt }) => appliedAt).map(({ name }) => name)
  const unknown = forgotten(catalogue, known, schema)
  if (unknown.length > 0) return unknown
  const readable =
    isAsMade(catalogue, { kind: 'column', table: 'records', name: 'state' }) &&
    !grants.some(({ table }) => table === 'records')
  const applied = states.some(({ name, state }) => name in coreMigrations && state === 'applied')
  return [
    ...migrationFindings(states, schema),
    // In front of the constraint that refuses them, which cannot be made anew while they are there.
    ...(readable && applied ? await committedClaims(db, schema) : []),
    ...driftOf(catalogue, tablesOf(states, schema), schema),
  ]
}

function tablesOf(states: readonly MigrationState[], schema: string): readonly string[] {
  return states.flatMap(({ name, state }) =>
    state === 'applied' ? (allMigrations[name]?.(schema).tables ?? []) : [],
  )
}
