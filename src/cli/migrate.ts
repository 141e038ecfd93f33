import { parseArgs } from 'node:util'

import { Kysely, PostgresDialect } from 'kysely'

import { OncelyError } from '../errors.ts'
import { DEFAULT_SCHEMA } from '../options.ts'
import { migrateToLatest } from '../migrate/migrate-to-latest.ts'
import { checkServer, importPg } from '../postgres/server.ts'

/** `oncely migrate`: parse, connect, call the library, print. */
export async function migrate(args: string[]): Promise<void> {
  const { url, schema, withOrders } = parse(args)
  await checkServer(url)
  const { Pool } = await importPg()
  const pool = new Pool({ connectionString: url, max: 1 })
  // A lost connection is found by the query that needs it; unheard, the event would end us first.
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', () => undefined)
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const applied = await migrateToLatest(db, { schema, withOrders })
    for (const name of applied) process.stdout.write(`applied ${name}\n`)
    if (applied.length === 0) process.stdout.write(`nothing to do: '${schema}' is up to date\n`)
  } finally {
    await db.destroy()
  }
}

function parse(args: string[]): { url: string; schema: string; withOrders: boolean } {
  const options = {
    url: { type: 'string' },
    schema: { type: 'string' },
    'with-orders': { type: 'boolean' },
  } as const
  let values
  try {
    values = parseArgs({ args, options }).values
  } catch (cause) {
    throw new OncelyError('invalid_options', (cause as Error).message, { cause })
  }
  const url = values.url ?? process.env['DATABASE_URL']
  if (!url) throw new OncelyError('invalid_options', 'say which database: --url or DATABASE_URL')
  return {
    url,
    schema: values.schema ?? DEFAULT_SCHEMA,
    withOrders: values['with-orders'] ?? false,
  }
}
