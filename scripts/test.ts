// `npm test`: starts a server, or uses the one that is named, and runs the test files on it.
// `npm test -- test/records/expire.test.ts` runs only that one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'

import { isOncelyError } from '../src/errors.ts'
import { checkConnection } from '../src/postgres/server.ts'
import { type DatabaseServer, startTestServer } from '../test/support/database-server.ts'
import { startTestRun } from '../test/support/test-run.ts'
import { compileCache } from './compile-cache.ts'
import { testGroups } from './test-groups.ts'

const patterns = process.argv.slice(2)
const files = globSync(patterns.length > 0 ? patterns : 'test/**/*.test.ts').sort()

let runner: ChildProcess | undefined
let interrupted: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started is still to be put away, whenever the signal comes.
  process.on(signal, () => {
    interrupted = signal
    runner?.kill(signal)
  })
}

async function runTests({ url, stays = false }: DatabaseServer): Promise<number> {
  await checkConnection(url)
  const run = await startTestRun(url)
  const groups = testGroups(files)
  try {
    if (interrupted) return 1
    // Most of the time a test waits for the server, or for another test to come to a gate.
    const imports = ['--import', 'tsx', '--import', './test/support/end-with-owner.ts']
    const { ONCELY_TEST_REPORTER: reporter } = process.env
    const report = reporter ? [`--test-reporter=${reporter}`] : []
    runner = spawn(
      process.execPath,
      [
        ...imports,
        ...report,
        '--test',
        '--test-timeout=120000',
        '--test-concurrency=4',
        ...groups.files,
      ],
      {
        stdio: 'inherit',
        env: {
          NODE_COMPILE_CACHE: compileCache(),
          ...process.env,
          ...run.env,
          ONCELY_TEST_OWNER: String(process.pid),
        },
        cwd: join(import.meta.dirname, '..'),
      },
    )
    const [code] = (await once(runner, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    groups.remove()
    await run.end({ drop: stays })
  }
}

if (files.length === 0) {
  console.error(`no test files found: ${patterns.join(' ')}`)
  process.exitCode = 1
} else {
  try {
    const server = await startTestServer()
    try {
      process.exitCode = interrupted ? 1 : await runTests(server)
    } finally {
      await server.stop()
    }
  } catch (error) {
    if (!isOncelyError(error)) throw error
    console.error(`oncely: ${error.message}`)
    process.exitCode = 1
  }
}
