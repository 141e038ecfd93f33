import {
  describeMigrateDown,
  migrateDown as undo,
  migrateDownScript,
} from '../migrate/migrate-down.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'

/** `oncely migrate down`. */
export async function migrateDown(args: string[]): Promise<number> {
  const options = { url: 'text', all: 'flag', yes: 'flag', 'dry-run': 'flag' } as const
  const { url, schema, all, yes, 'dry-run': dryRun } = parse(args, options)
  const which = { schema, steps: all ? Infinity : 1 }
  const nothing = `nothing to undo in '${schema}'\n`
  return withDatabase(url, async (db) => {
    if (dryRun) {
      process.stdout.write((await migrateDownScript(db, which)) || `-- ${nothing}`)
      return 0
    }
    if (yes) {
      const { undone } = await undo(db, which)
      for (const name of undone) process.stdout.write(`undone ${name}\n`)
      if (undone.length === 0) process.stdout.write(nothing)
      return 0
    }
    const dropped = await describeMigrateDown(db, which)
    if (dropped.length === 0) {
      process.stdout.write(nothing)
      return 0
    }
    const tables = dropped
      .map(({ table, rows }) => `${table} (${rows} ${rows === 1 ? 'row' : 'rows'})`)
      .join(', ')
    process.stderr.write(`oncely: this drops ${tables} for good; with --yes it is done\n`)
    return 1
  })
}
