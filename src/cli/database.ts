import { Kysely, PostgresDialect } from 'kysely'

import type { PoolLike } from '../doctor/diagnose.ts'
import { isOncelyError, OncelyError } from '../errors.ts'
import { checkConnection, databaseError, importPg } from '../postgres/server.ts'
import { hostOfConfig } from './kysely-config.ts'

/** A database, and the pool below it where that is known. */
export interface Host {
  readonly db: Kysely<unknown>
  readonly pool?: PoolLike
}

/**
 * Gives a command its database and closes it behind: `--url`, else `DATABASE_URL`, else what the
 * host's `kysely.config.ts` says.
 *
 * @throws OncelyError `invalid_options`, `driver_missing`; `database_unreachable` or
 * `database_refused` for whatever the database or the driver has against it.
 */
export async function withDatabase<Value>(
  given: string | undefined,
  use: (db: Kysely<unknown>, pool: PoolLike | undefined) => Promise<Value>,
): Promise<Value> {
  if (given === '') throw new OncelyError('invalid_options', '--url is empty')
  const url = given ?? process.env['DATABASE_URL']
  const host = url ? await hostOfUrl(url) : await hostOfConfig(process.cwd())
  if (!host) {
    throw new OncelyError(
      'invalid_options',
      'say which database: --url, DATABASE_URL or a kysely.config.ts',
    )
  }
  try {
    return await use(host.db, host.pool)
  } catch (error) {
    throw isOncelyError(error) ? error : databaseError(error)
  } finally {
    await host.db.destroy()
  }
}

async function hostOfUrl(url: string): Promise<Host> {
  await checkConnection(url)
  const { Pool } = await importPg()
  const pool = new Pool({ connectionString: url, max: 1 })
  // A lost connection is found by the query that needs it; unheard, the event would end us first.
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', () => undefined)
  return { db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }) }
}
