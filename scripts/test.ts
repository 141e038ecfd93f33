// `npm test`: starts a server, or uses the one that is named, and runs the test files on it.
// `npm test -- test/records/expire.test.ts` runs only that one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'

import { isOncelyError } from '../src/errors.ts'
import { checkServer } from '../src/postgres/server.ts'
import { startTestServer } from '../test/support/database-server.ts'
import { startTestRun } from '../test/support/test-run.ts'

const patterns = process.argv.slice(2)
const files = globSync(patterns.length > 0 ? patterns : 'test/**/*.test.ts').sort()

async function runTests(url: string): Promise<number> {
  await checkServer(url)
  const run = await startTestRun(url)
  try {
    const runner = spawn(
      process.execPath,
      ['--import', 'tsx', '--test', '--test-timeout=120000', ...files],
      {
        stdio: 'inherit',
        env: { ...process.env, ...run.env },
      },
    )
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => runner.kill())
    const [code] = (await once(runner, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    await run.end()
  }
}

// The test files get the terminal's Ctrl-C themselves; their databases are still to be dropped.
process.on('SIGINT', () => undefined)

if (files.length === 0) {
  console.error(`no test files found: ${patterns.join(' ')}`)
  process.exitCode = 1
} else {
  try {
    const server = await startTestServer()
    try {
      process.exitCode = await runTests(server.url)
    } finally {
      await server.stop()
    }
  } catch (error) {
    if (!isOncelyError(error)) throw error
    console.error(`oncely: ${error.message}`)
    process.exitCode = 1
  }
}
