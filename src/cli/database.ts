import { Kysely, PostgresDialect } from 'kysely'

import { OncelyError } from '../errors.ts'
import { checkConnection, importPg } from '../postgres/server.ts'
import { kyselyOfConfig } from './kysely-config.ts'

/**
 * Gives a command its database and closes it behind: `--url`, else `DATABASE_URL`, else what the
 * host's `kysely.config.ts` says.
 *
 * @throws OncelyError `invalid_options`, `database_unreachable`, `database_refused`, `driver_missing`.
 */
export async function withDatabase<Value>(
  given: string | undefined,
  use: (db: Kysely<unknown>) => Promise<Value>,
): Promise<Value> {
  const url = given ?? process.env['DATABASE_URL']
  const db = url ? await kyselyOfUrl(url) : await kyselyOfConfig(process.cwd())
  if (!db) {
    throw new OncelyError(
      'invalid_options',
      'say which database: --url, DATABASE_URL or a kysely.config.ts',
    )
  }
  try {
    return await use(db)
  } finally {
    await db.destroy()
  }
}

async function kyselyOfUrl(url: string): Promise<Kysely<unknown>> {
  await checkConnection(url)
  const { Pool } = await importPg()
  const pool = new Pool({ connectionString: url, max: 1 })
  // A lost connection is found by the query that needs it; unheard, the event would end us first.
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', () => undefined)
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
}
