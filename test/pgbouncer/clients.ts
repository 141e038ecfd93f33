// The tests' own host, and its server connections, through a PgBouncer.
import { type Kysely, sql } from 'kysely'

import type { ConnectOptions, TestDatabase } from '../support/database.ts'
import type { NotesDatabase, NotesHost } from '../support/notes-host.ts'
import type { PgBouncer } from '../support/pgbouncer.ts'

/** A host that comes through the pooler, which would refuse the time-outs of a test's own pool. */
export function through(
  pooler: PgBouncer,
  host: NotesHost,
  options: ConnectOptions = {},
): Kysely<NotesDatabase> {
  return host.connect({ connectionString: pooler.url(), statement_timeout: false, ...options })
}

/** Which server connection a transaction, or a statement outside of one, has come to. */
export async function backendOf(db: Kysely<NotesDatabase>): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

/**
 * Makes the pooler open that many server connections, so that the transactions of one client behind
 * it take turns on them.
 */
export async function openBackends(
  pooler: PgBouncer,
  database: TestDatabase,
  count: number,
): Promise<number[]> {
  const pool = database.pool({ connectionString: pooler.url(), max: count })
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()))
  try {
    // Nobody gives a connection back before everybody has one.
    await Promise.all(clients.map((client) => client.query('begin')))
    const pids = clients.map(async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      return rows[0]?.pid ?? 0
    })
    return await Promise.all(pids)
  } finally {
    await Promise.all(clients.map((client) => client.query('commit')))
    for (const client of clients) client.release()
  }
}
