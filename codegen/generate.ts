// Writes codegen/db.ts and codegen/schema.sql as the migrations make them, on a throw-away server.
// With --verify it writes nothing and fails when they differ from what is there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'

import { bookkeeping } from '../migrations/index.ts'
import { migrateToLatest } from '../src/migrations.ts'
import { DEFAULT_SCHEMA } from '../src/options.ts'
import { startEmbeddedServer } from '../test/support/embedded-server.ts'
import { dumpSchema } from './dump-schema.ts'

const { verify } = parseArgs({ options: { verify: { type: 'boolean', default: false } } }).values
const typesFile = join(import.meta.dirname, 'db.ts')
const schemaFile = join(import.meta.dirname, 'schema.sql')

function generateTypes(url: string): void {
  const { migrationTableName: table } = bookkeeping
  const args = [
    ...['--dialect', 'postgres', '--url', url, '--log-level', verify ? 'info' : 'warn'],
    ...['--default-schema', DEFAULT_SCHEMA, '--include-pattern', `${DEFAULT_SCHEMA}.*`],
    ...['--exclude-pattern', `${DEFAULT_SCHEMA}.${table}*`, '--out-file', typesFile],
    ...(verify ? ['--verify'] : []),
  ]
  const { status } = spawnSync('kysely-codegen', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(verify ? 'differs from the migrations' : 'not written')
}

async function generateSchema(db: Kysely<unknown>): Promise<void> {
  const dump = await dumpSchema(db, DEFAULT_SCHEMA)
  if (!verify) {
    writeFileSync(schemaFile, dump)
  } else if (!existsSync(schemaFile) || readFileSync(schemaFile, 'utf8') !== dump) {
    throw new Error('differs from the migrations')
  }
}

const server = await startEmbeddedServer()
const db = new Kysely<unknown>({
  dialect: new PostgresDialect({ pool: new Pool({ connectionString: server.url }) }),
})
try {
  await migrateToLatest(db, { withOrders: true })
  for (const [file, generate] of [
    [
      'codegen/db.ts',
      () => {
        generateTypes(server.url)
      },
    ],
    ['codegen/schema.sql', () => generateSchema(db)],
  ] as const) {
    try {
      await generate()
      console.log(`${file}: ${verify ? 'up to date' : 'written'}`)
    } catch (error) {
      console.error(`${file}: ${(error as Error).message}; after a change run: npm run codegen`)
      process.exitCode = 1
    }
  }
} finally {
  await db.destroy()
  await server.stop()
}
