import type { Kysely } from 'kysely'

import { allMigrations } from '../migrate/plan.ts'
import { type MigrationState, migrationStatus } from '../migrate/status.ts'
import { checkNames, checkSchema, DEFAULT_SCHEMA, resolveOptions } from '../options.ts'
import { refuseTransaction } from '../postgres/enter.ts'
import { readCatalogue } from './catalogue.ts'
import { committedClaims } from './claims.ts'
import { driftOf } from './drift.ts'
import type { Finding } from './finding.ts'
import { missingGrants } from './grants.ts'
import { migrationFindings } from './migrations.ts'
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
  /** The pool of node-postgres below `db`, which says whether it pipelines; unknown otherwise. */
  readonly pool?: PoolLike
}

/** The part of node-postgres's Pool that is looked at. */
export interface PoolLike {
  /** What the pool was made with. */
  readonly options: {
    /** Whether statements are sent without waiting for the one before. */
    readonly pipeline?: boolean | undefined
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
  const resolved = resolveOptions({ ...(lockTimeoutMs !== undefined && { lockTimeoutMs }) })
  const server = await readServer(db)
  const ofServer = serverFindings(server, resolved.lockTimeoutMs)
  const notes = serverNotes(server, pool && pool.options.pipeline === true)
  if (ofServer.some(({ code }) => code === 'server_too_old')) return { findings: ofServer, notes }

  const grants = await missingGrants(db, schema, sweeper)
  const readable = !grants.some(({ hides }) => hides)
  const states = readable ? await migrationStatus(db, { schema }) : []
  const findings = [
    ...ofServer,
    ...grants.map(({ finding }) => finding),
    ...(readable ? migrationFindings(states, schema) : []),
    ...(readable ? driftOf(await readCatalogue(db, schema), tablesOf(states, schema), schema) : []),
    ...(await committedClaims(db, schema)),
  ]
  return { findings, notes }
}

function tablesOf(states: readonly MigrationState[], schema: string): readonly string[] {
  return states.flatMap(({ name, state }) =>
    state === 'applied' ? (allMigrations[name]?.(schema).tables ?? []) : [],
  )
}
