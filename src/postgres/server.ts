import type pg from 'pg'

import { OncelyError } from '../errors.ts'
import { sqlState } from './sqlstate.ts'

/** `insert … on conflict` is older, but what is tested starts with this one. */
export const OLDEST_VERSION = 14

/**
 * Connects to a server once, to say in one line what keeps a command from using it.
 *
 * @param url - a connection string, `postgres://user:password@host:port/database`.
 * @throws OncelyError `database_unreachable`, `database_refused` or `invalid_options`.
 */
export async function checkConnection(url: string): Promise<void> {
  const { Client } = await importPg()
  const client = clientFor(Client, url)
  // A connection lost while idle is found by the next use of it.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    throw databaseError(error, `${client.host}:${client.port}`)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** node-postgres takes any text and falls back to localhost, which nobody has asked for. */
function clientFor(Client: typeof pg.Client, url: string): pg.Client {
  if (!/^(postgres|postgresql|socket):|^\//.test(url)) {
    throw new OncelyError(
      'invalid_options',
      'the connection string must be of the form postgres://user:password@host:port/database',
    )
  }
  try {
    return new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  } catch (cause) {
    throw new OncelyError('invalid_options', `the connection string: ${reason(cause)}`, { cause })
  }
}

/**
 * @throws OncelyError `server_too_old`.
 * @internal
 */
export function refuseOld(versionNumber: number): void {
  const major = Math.floor(versionNumber / 10_000)
  if (major >= OLDEST_VERSION) return
  throw new OncelyError(
    'server_too_old',
    `the server is PostgreSQL ${major}; oncely needs ${OLDEST_VERSION} or newer`,
  )
}

/** What keeps a command from its work, where only the database or the driver can say. */
export function databaseError(cause: unknown, where = 'the database'): OncelyError {
  return sqlState(cause) === undefined
    ? new OncelyError('database_unreachable', `no answer of ${where}: ${reason(cause)}`, { cause })
    : new OncelyError('database_refused', `${where} refused: ${reason(cause)}`, { cause })
}

/** Node's error for a name with several addresses has its reasons one level down. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ')
  return error instanceof Error ? error.message || error.name : String(error)
}

/** pg is an optional peer: a host on another driver has no use for it until it runs a command. */
export async function importPg(): Promise<typeof pg> {
  try {
    return (await import('pg')).default
  } catch (cause) {
    throw new OncelyError('driver_missing', 'install the package pg to run this command', {
      cause,
    })
  }
}
