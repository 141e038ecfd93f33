import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const script = readFileSync(join(import.meta.dirname, 'chromium.sh'), 'utf8')

/** One that cannot run says so again and again. */
const LOG_LENGTH = 2_000

/** Without a window, and without a word to anybody but this machine. */
const settings = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  ...['--no-first-run', '--no-default-browser-check', '--disable-extensions', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-default-apps'],
  ...['--disable-breakpad', '--disable-background-timer-throttling', '--no-proxy-server'],
  // A name that is reserved for tests is this machine, and any other one is not there.
  '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** A browser with one page. */
export interface Chromium {
  /** Resolves as soon as it is gone. */
  readonly gone: Promise<unknown>
  /** The last that it has said: of its own troubles, mostly, also where all is well. */
  readonly log: () => string
  stop(): Promise<void>
}

/**
 * Starts a headless Chromium with a profile of its own and opens a page. It ends, and its profile with it, on
 * `stop` or as soon as this process is gone, for whatever reason.
 */
export function startChromium(url: string): Chromium {
  const keeper = spawn(
    '/bin/sh',
    ['-c', script, 'chromium', chromiumProgram(), tmpdir(), ...settings, url],
    { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'pipe'] },
  )
  let log = ''
  keeper.stderr.on('data', (chunk) => (log = (log + String(chunk)).slice(-LOG_LENGTH)))
  const gone = once(keeper.stderr, 'end')
  const ended = once(keeper, 'exit')
  // A hook that fails keeps the others from running, and then this one must not keep the process.
  keeper.unref()
  for (const pipe of [keeper.stdin, keeper.stderr]) (pipe as Socket).unref()
  return {
    gone,
    log: () => log,
    async stop() {
      keeper.ref()
      keeper.stdin.end()
      await ended
    },
  }
}

function chromiumProgram(): string {
  const folders = String(process.env['PATH']).split(delimiter)
  const programs = ['chromium', 'chromium-browser'].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  )
  const found = programs.find(isExecutable)
  if (found === undefined) throw new Error('no Chromium here; .ci/browser brings one')
  return found
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
