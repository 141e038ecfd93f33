import { spawn } from 'node:child_process'
import { once } from 'node:events'

import type { Proof } from './bug.ts'

/** What came of a proof. */
export interface Ran {
  /** Null of one that was killed, since it did not end in time or was interrupted. */
  readonly code: number | null
  readonly output: string
  readonly seconds: number
}

/** Many times what the longest one takes. */
const LONGEST_MS = 300_000
/** For a proof to put away what it has made, such as a database. */
const PUT_AWAY_MS = 10_000

/** Runs a proof in a copy of the project, on a server that is there. */
export async function runProof(
  { args }: Proof,
  folder: string,
  url: string,
  stop: AbortSignal,
): Promise<Ran> {
  const from = performance.now()
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    cwd: folder,
    // A group of its own, so that nothing it has started stays behind.
    detached: true,
    env: { ...process.env, TEST_DATABASE_URL: url, FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const listen = (text: string) => (output += text)
  child.stdout.setEncoding('utf8').on('data', listen)
  child.stderr.setEncoding('utf8').on('data', listen)
  const closed = once(child, 'close')

  const kill = (signal: NodeJS.Signals) => {
    // Without an id it was not started, which `closed` tells.
    if (child.pid !== undefined) killGroup(child.pid, signal)
  }
  let last: NodeJS.Timeout | undefined
  const giveUp = () => {
    kill('SIGTERM')
    last = setTimeout(kill, PUT_AWAY_MS, 'SIGKILL')
  }
  const timer = setTimeout(giveUp, LONGEST_MS)
  stop.addEventListener('abort', giveUp, { once: true })
  if (stop.aborted) giveUp()
  try {
    const [code] = (await closed) as [number | null]
    return { code: last ? null : code, output, seconds: (performance.now() - from) / 1_000 }
  } finally {
    stop.removeEventListener('abort', giveUp)
    clearTimeout(timer)
    clearTimeout(last)
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
