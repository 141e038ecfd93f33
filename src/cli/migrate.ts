import { migrateToLatest, migrateToLatestScript } from '../migrate/migrate-to-latest.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'

/** `oncely migrate`: parse, connect, call the library, print. */
export async function migrate(args: string[]): Promise<number> {
  const options = { url: 'text', 'with-orders': 'flag', 'dry-run': 'flag' } as const
  const { url, schema, 'with-orders': withOrders, 'dry-run': dryRun } = parse(args, options)
  await withDatabase(url, async (db) => {
    const nothing = `nothing to do: '${schema}' is up to date\n`
    if (dryRun) {
      const script = await migrateToLatestScript(db, { schema, withOrders })
      process.stdout.write(script || `-- ${nothing}`)
      return
    }
    const { applied } = await migrateToLatest(db, { schema, withOrders })
    for (const name of applied) process.stdout.write(`applied ${name}\n`)
    if (applied.length === 0) process.stdout.write(nothing)
  })
  return 0
}
