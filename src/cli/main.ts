#!/usr/bin/env node
import { createRequire } from 'node:module'

import { isOncelyError } from '../errors.ts'
import { doctor } from './doctor.ts'
import { migrateDown } from './down.ts'
import { grants } from './grants.ts'
import { migrate } from './migrate.ts'
import { migrateStatus } from './status.ts'
import { sweep } from './sweep.ts'
import { usage } from './usage.ts'

/** Each answers with the exit code. */
const commands: Readonly<Record<string, (args: string[]) => number | Promise<number>>> = {
  migrate,
  'migrate status': migrateStatus,
  'migrate down': migrateDown,
  'migrate grants': grants,
  doctor,
  sweep,
}

/** The command by its first two words, or by its first. */
function commandOf([first = '', second = '', ...rest]: string[]): [name: string, args: string[]] {
  const both = `${first} ${second}`
  if (Object.hasOwn(commands, both)) return [both, rest]
  return [first, second === '' ? rest : [second, ...rest]]
}

// Whoever reads on has heard enough, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const words = process.argv.slice(2)
const [name, args] = commandOf(words)
try {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (name === '--version') {
    const { version } = createRequire(import.meta.url)('oncely/package.json') as { version: string }
    process.stdout.write(`${version}\n`)
  } else if (name === 'help' || words.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(usage)
  } else if (command) {
    process.exitCode = await command(args)
  } else {
    process.stderr.write(usage)
    process.exitCode = 2
  }
} catch (error) {
  if (!isOncelyError(error)) throw error
  process.stderr.write(`oncely: ${error.message} [${error.code}]\n`)
  process.exitCode = error.code === 'invalid_options' ? 2 : 1
}
