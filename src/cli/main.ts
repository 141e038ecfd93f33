#!/usr/bin/env node
import { isOncelyError } from '../errors.ts'
import { migrate } from './migrate.ts'

const usage = `usage: oncely migrate [--url URL] [--schema NAME] [--with-orders]

Creates the tables of oncely, or brings them up to date.

  --url URL       the database to migrate, as postgres://user:password@host:port/name;
                  DATABASE_URL unless given
  --schema NAME   the schema for the tables (idem)
  --with-orders   also the reference orders table
`

const [command, ...args] = process.argv.slice(2)
try {
  if (command === 'help' || ['--help', '-h'].some((word) => process.argv.includes(word))) {
    process.stdout.write(usage)
  } else if (command === 'migrate') {
    await migrate(args)
  } else {
    process.stderr.write(usage)
    process.exitCode = 2
  }
} catch (error) {
  if (!isOncelyError(error)) throw error
  process.stderr.write(`oncely: ${error.message}\n`)
  process.exitCode = error.code === 'invalid_options' ? 2 : 1
}
