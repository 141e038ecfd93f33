// `npm run test:matrix`: the suite on each major of PostgreSQL that is supported, one after the other.
// `-- 14 17` only on these; `-- --short` only the files that depend on the server.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { startEmbeddedServer } from '../test/support/embedded-server.ts'
import { installServer } from '../test/support/server-package.ts'
import { type Major, type MatrixArguments, matrixArguments } from './matrix/arguments.ts'
import { goesToGivenServer } from './matrix/short.ts'
import { failuresIn, type Tally, tallyOf } from './matrix/tally.ts'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/oncely-postgres')

interface Row extends Partial<Tally> {
  readonly major: Major
  readonly red: boolean
  readonly seconds: number
}

const interrupted = new AbortController()
let suite: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The suite puts away what it has made, and this what it has started, whenever the signal comes.
  process.on(signal, () => {
    interrupted.abort()
    suite?.kill(signal)
  })
}

/** The `node_modules` with that server in it. */
function binariesOf(major: Major): string | Promise<string> {
  if (major === 18) return join(root, 'node_modules')
  return installServer(major, join(cache, String(major)), interrupted.signal)
}

async function runSuite(
  url: string,
  binaries: string,
  files: readonly string[],
): Promise<[number, string]> {
  const args = ['--import', 'tsx', 'scripts/test.ts', ...files]
  suite = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, TEST_DATABASE_URL: url, ONCELY_TEST_SERVER_BINARIES: binaries },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  suite.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(suite, 'close')) as [number | null]
  return [code ?? 1, output]
}

async function runMajor(major: Major, files: readonly string[]): Promise<Row> {
  const binaries = await binariesOf(major)
  const server = await startEmbeddedServer(binaries)
  try {
    // What a first run installs is not the suite's time.
    const begun = performance.now()
    interrupted.signal.throwIfAborted()
    const [code, output] = await runSuite(server.url, binaries, files)
    // What it says then is of no test.
    interrupted.signal.throwIfAborted()
    const tally = tallyOf(output)
    const red = code !== 0 || !tally || tally.failed > 0
    if (red) console.log(failuresIn(output))
    return { major, red, seconds: Math.round((performance.now() - begun) / 1_000), ...tally }
  } finally {
    await server.stop()
  }
}

function lineOf({ major, red, seconds, passed, failed, skipped }: Row): string {
  const counts =
    passed === undefined
      ? 'did not come to its end'
      : `${passed} passed, ${failed} failed, ${skipped} skipped`
  return `PostgreSQL ${major}: ${red ? 'RED' : 'green'}, ${counts}, ${seconds} s`
}

async function main({ majors, short }: MatrixArguments): Promise<boolean> {
  const files = short
    ? globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
        goesToGivenServer(readFileSync(join(root, file), 'utf8')),
      )
    : []
  const rows: Row[] = []
  for (const major of majors) {
    interrupted.signal.throwIfAborted()
    console.log(`PostgreSQL ${major} …`)
    const row = await runMajor(major, files)
    console.log(lineOf(row))
    rows.push(row)
  }
  console.log(['', short ? 'the short matrix' : 'the matrix', ...rows.map(lineOf)].join('\n'))
  return rows.every(({ red }) => !red)
}

const given = matrixArguments(process.argv.slice(2))
if (typeof given === 'string') {
  console.error(`test:matrix: ${given}`)
  process.exitCode = 2
} else {
  try {
    process.exitCode = (await main(given)) ? 0 : 1
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    console.error('test:matrix: interrupted')
    process.exitCode = 1
  }
}
