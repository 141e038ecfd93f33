import { diagnose } from '../doctor/diagnose.ts'
import { parse } from './arguments.ts'
import { withDatabase } from './database.ts'

/** `oncely doctor`. */
export async function doctor(args: string[]): Promise<number> {
  const options = { url: 'text', sweeper: 'flag', 'lock-timeout-ms': 'text' } as const
  const { url, schema, sweeper, 'lock-timeout-ms': lockTimeout } = parse(args, options)
  const { findings, notes } = await withDatabase(url, (db, pool) =>
    diagnose(db, {
      schema,
      sweeper,
      ...(pool && { pool }),
      ...(lockTimeout !== undefined && { lockTimeoutMs: Number(lockTimeout) }),
    }),
  )
  for (const note of notes) process.stdout.write(`note: ${note}\n`)
  for (const { problem, mend, sql } of findings) {
    process.stdout.write(`problem: ${problem}\n   mend: ${mend}\n`)
    if (sql !== undefined) process.stdout.write(`    sql: ${sql}\n`)
  }
  process.stdout.write(
    findings.length === 0 ? `all is well in '${schema}'\n` : `problems: ${findings.length}\n`,
  )
  return findings.length === 0 ? 0 : 1
}
