import { type ChildProcess, spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const command = join(root, 'src/cli/main.ts')

/** A command that is not compiled each time is the same one. */
const { PATH, NODE_COMPILE_CACHE } = process.env

/** What a command came to. */
export type Ended = Pick<SpawnSyncReturns<string>, 'status' | 'stdout' | 'stderr'>

/** Where and with what a command runs; nothing is in its environment that is not said here. */
interface Place {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The command `oncely` as a user runs it. */
export function oncely(args: readonly string[], { cwd = '/', env = {} }: Place = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })
  return { status, stdout, stderr }
}

/** The same beside the test. */
export function startOncely(args: readonly string[]): {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
} {
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => (texts[stream] += text))
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => {
      resolve({ status, ...texts })
    })
  })
  return { child, ended }
}
