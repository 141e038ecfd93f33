// For the tests of the embedded server: a process that owns one, and what it leaves behind.
import { ok } from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

import { Client } from 'pg'

/** Longer than it takes to stop a server; only a test that would fail anyway waits this long. */
const DEADLINE_MS = 20_000

/** The first column of the first row. */
export async function ask(url: string, query: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: query, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

/** Where a running server keeps everything. Both must be seen now, or their end could not be. */
export async function folderOf(url: string): Promise<string> {
  const folder = dirname(String(await ask(url, 'show data_directory')))
  ok(existsSync(folder), folder)
  ok(processesIn(folder).length > 1, 'neither the server nor its keeper is seen to run')
  return folder
}

/** What runs in a folder, or has it among its arguments. */
export function processesIn(folder: string): string[] {
  if (!existsSync('/proc/self/cmdline')) {
    const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    return stdout.split('\n').filter((line) => line.includes(folder))
  }
  const describe = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readlinkSync(`/proc/${pid}/cwd`)
    } catch {
      // Ended meanwhile, or somebody else's.
      return ''
    }
  }
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && describe(pid).includes(folder))
}

export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`has not come about: ${what}`)
    await setTimeout(20)
  }
}

/** Waits until neither the folder nor a process in it is left. */
export async function untilGone(folder: string): Promise<void> {
  await until(`the end of ${folder}`, () => !existsSync(folder) && processesIn(folder).length === 0)
}

/** Where an owner of a server comes from, and as whom it runs. */
export interface OwnerOptions {
  readonly project?: string
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
}

/** A node process that starts a server, says where it is, and stays; SIGUSR2 makes it throw. */
export function startOwner(options: OwnerOptions = {}): {
  owner: ChildProcess
  url: Promise<string>
} {
  const { project = join(import.meta.dirname, '../..'), node, env, ...user } = options
  const module = pathToFileURL(join(project, 'test/support/embedded-server.ts')).href
  const script = `
    import { startEmbeddedServer } from ${JSON.stringify(module)}
    process.on('SIGUSR2', () => { throw new Error('thrown') })
    const { url } = await startEmbeddedServer()
    console.log(url)`
  const owner = spawn(node ?? process.execPath, ['--input-type=module', '-e', script], {
    ...user,
    cwd: '/',
    // Its own process group, which is what Ctrl-C in a terminal reaches.
    detached: true,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  owner.stderr.on('data', (chunk) => (errors += String(chunk)))
  const url = Promise.race([
    once(createInterface(owner.stdout), 'line').then(([line]) => String(line)),
    once(owner, 'exit').then(() => Promise.reject(new Error(`ended without a server: ${errors}`))),
  ])
  url.catch(() => undefined)
  return { owner, url }
}
