import { migrationStatus } from '../migrate/status.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'

const notes: Readonly<Record<string, string>> = {
  unknown: '  by a newer oncely',
  optional: '  --with-orders',
}

/** `oncely migrate status`. */
export async function migrateStatus(args: string[]): Promise<number> {
  const { url, schema } = parse(args, { url: 'text' })
  const states = await withDatabase(url, (db) => migrationStatus(db, { schema }))
  for (const { state, name, appliedAt } of states) {
    const at = appliedAt ? `  ${appliedAt.toISOString()}` : ''
    process.stdout.write(`${state.padEnd(8)}  ${name}${at}${notes[state] ?? ''}\n`)
  }
  return 0
}
