import { migrationStatus } from '../migrate/status.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'

/** `oncely migrate status`. */
export async function migrateStatus(args: string[]): Promise<number> {
  const { url, schema } = parse(args, { url: 'text' })
  const states = await withDatabase(url, (db) => migrationStatus(db, { schema }))
  for (const migration of states) {
    const { state, name } = migration
    const at = 'appliedAt' in migration ? `  ${migration.appliedAt.toISOString()}` : ''
    const note =
      { unknown: '  by a newer oncely', optional: '  --with-orders' }[state as string] ?? ''
    process.stdout.write(`${state.padEnd(8)}  ${name}${at}${note}\n`)
  }
  return 0
}
