import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

import { OncelyError } from '../../src/errors.ts'
import type { DatabaseServer } from './database-server.ts'
import { serverPackage } from './server-package.ts'
import { freePort, parentFolder, run, type ServerUser, serverUser } from './unprivileged.ts'

const script = readFileSync(join(import.meta.dirname, 'embedded-server.sh'), 'utf8')

/** A server that can be treated badly. It comes back on the same port, with the same data. */
export interface EmbeddedServer extends DatabaseServer {
  /** Ends it at once, as a loss of power would: what was not written is lost. */
  crash(): Promise<void>
  /** Ends it in good order; its sessions are told. */
  shutDown(): Promise<void>
  /** Starts it again, if wanted as a standby that has no primary to follow. */
  startAgain(as?: 'standby'): Promise<void>
}

/**
 * Starts a PostgreSQL of one's own from the npm binaries, on a free loopback port. It ends, and
 * its folder with it, on `stop` or as soon as this process is gone, for whatever reason.
 *
 * @param nodeModules - where the binaries are installed; the project's own are PostgreSQL 18.
 * @param settings - of the server, beside those every test server has.
 */
export async function startEmbeddedServer(
  nodeModules = join(import.meta.dirname, '../../node_modules'),
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(nodeModules, settings)
    } catch (error) {
      // Between finding a free port and binding it somebody else may have taken it.
      if (attempt === 5 || !/could not bind/.test(String(error))) throw error
    }
  }
}

async function start(
  nodeModules: string,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedServer> {
  const user = serverUser()
  const parent = parentFolder(user)
  if (!parent) throw unavailable('its user can write to no temporary folder')
  const password = randomBytes(12).toString('hex')
  const port = await freePort()
  const options = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    "-c unix_socket_directories=''",
    '-c max_connections=400',
    // Nothing here outlives the machine, so nothing needs to reach its disk.
    '-c fsync=off',
    ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
  ].join(' ')
  const keeper = spawn('/bin/sh', ['-c', script, 'embedded-server', parent, options], {
    ...user,
    cwd: '/',
    detached: true,
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(keeper.stdout)[Symbol.asyncIterator]()
  // The keeper made the folder, so it is gone with the keeper from the first moment on.
  const folder = await nextLine(lines)
  keeper.stdin.write(`${password}\n${await serverBinaries(nodeModules, user, folder)}\n`)
  const answer = await nextLine(lines)
  if (answer !== 'ready') throw unavailable(`it did not start: ${answer}`)
  const order = async (given: 'crash' | 'shutdown' | 'standby' | 'start') => {
    keeper.stdin.write(`${given}\n`)
    const said = await nextLine(lines)
    if (said !== 'done') throw unavailable(said)
  }
  return {
    crash: () => order('crash'),
    shutDown: () => order('shutdown'),
    async startAgain(as) {
      if (as) await order(as)
      await order('start')
    },
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      if (keeper.exitCode !== null || keeper.signalCode !== null) return
      const ended = once(keeper, 'exit')
      keeper.stdin.end()
      await ended
    },
  }
}

async function nextLine(lines: AsyncIterator<string, unknown>): Promise<string> {
  const { done, value } = await lines.next()
  return done === true ? 'its keeper ended without a word' : value
}

function unavailable(reason: string, cause?: unknown): OncelyError {
  return new OncelyError('database_unreachable', `no embedded PostgreSQL here: ${reason}`, {
    cause,
  })
}

async function serverBinaries(
  nodeModules: string,
  user: ServerUser,
  folder: string,
): Promise<string> {
  const name = serverPackage()
  const main = pathToFileURL(join(nodeModules, name, 'dist/index.js')).href
  const binaries = (await import(main).catch((cause: unknown) => {
    throw unavailable(`${name} is not installed`, cause)
  })) as { postgres: string }
  const bin = dirname(binaries.postgres)
  if (run(binaries.postgres, ['--version'], user).status === 0) return bin
  // The server's user may not enter the folder this project lies in, such as root's home. What is
  // unpacked by that user can be removed by it, too.
  const { stdout: archive } = spawnSync('tar', ['-C', dirname(bin), '-cf', '-', '.'], {
    maxBuffer: 1024 ** 3,
  })
  spawnSync('tar', ['-C', folder, '-xf', '-'], { ...user, input: archive })
  return join(folder, 'bin')
}
