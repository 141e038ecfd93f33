import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { Client } from 'pg'

import { urlOf } from './test-run.ts'
import { freePort, parentFolder, serverUser } from './unprivileged.ts'

const script = readFileSync(join(import.meta.dirname, 'pgbouncer.sh'), 'utf8')
// Debian has it where only root looks.
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`

/** Longer than any test waits; only a test that would fail anyway comes to it. */
export const PATIENCE_S = 20

export interface PgBouncerOptions {
  /** How many server connections a database gets, at most. */
  readonly poolSize: number
  /** Start-up parameters that are ignored. All but a few others are refused. */
  readonly ignoreStartupParameters?: readonly string[]
  /** How many named statements of a client it follows from one server connection to another. */
  readonly maxPreparedStatements?: number
}

/** Version of the PgBouncer that is installed, `[1, 18]`. */
export function pgBouncerVersion(): readonly [major: number, minor: number] {
  const { stdout } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8', env: { PATH } })
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? []
  if (major === undefined) throw new Error('no PgBouncer here; .ci/pgbouncer brings one')
  return [Number(major), Number(minor)]
}

/** Why named statements cannot be followed, or false when they can. */
export function cannotTrackStatements(): string | false {
  const [major, minor] = pgBouncerVersion()
  return (
    major === 1 &&
    minor < 21 &&
    `PgBouncer ${major}.${minor} has no max_prepared_statements; 1.21 was the first`
  )
}

export interface RunningPgBouncer {
  readonly url: string
  /** Where it keeps everything. */
  readonly folder: string
  stop(): Promise<void>
}

/**
 * Starts a PgBouncer of one's own in front of a server, on a free loopback port. It ends, and its
 * folder with it, on `stop` or as soon as this process is gone, for whatever reason.
 */
export async function startPgBouncer(
  url: string,
  options: PgBouncerOptions,
): Promise<RunningPgBouncer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(url, options)
    } catch (error) {
      // Between finding a free port and binding it somebody else may have taken it.
      if (attempt === 5 || !/nowhere to listen/.test(String(error))) throw error
    }
  }
}

async function start(url: string, options: PgBouncerOptions): Promise<RunningPgBouncer> {
  const user = serverUser()
  const parent = parentFolder(user)
  if (!parent) throw new Error('its user can write to no temporary folder')
  const port = await freePort()
  const target = new URL(url)
  const settings = settingsFor(target, port, options)

  const keeper = spawn('/bin/sh', ['-c', script, 'pgbouncer', 'pgbouncer', parent], {
    ...user,
    cwd: '/',
    detached: true,
    env: { PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let log = ''
  // Widened, since the compiler does not see the listener set it.
  let gone = false as boolean
  keeper.stderr.on('data', (chunk) => (log += String(chunk)))
  keeper.stderr.on('end', () => (gone = true))
  const folder = once(createInterface(keeper.stdout), 'line')
  const credentials = [target.username, target.password].map(decodeURIComponent)
  keeper.stdin.write(`${credentials.map(quoted).join(' ')}\n${settings.join('\n')}\n\n`)

  const own = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
  const running = {
    url: own,
    folder: String((await folder)[0]),
    async stop() {
      if (keeper.exitCode !== null || keeper.signalCode !== null) return
      const ended = once(keeper, 'exit')
      keeper.ref()
      keeper.stdin.end()
      await ended
    },
  }
  for (;;) {
    try {
      await ask(urlOf(own, 'pgbouncer'), 'show version')
      // A hook that fails keeps the others from running, and then this one must not keep the process.
      keeper.unref()
      for (const pipe of [keeper.stdin, keeper.stdout, keeper.stderr]) (pipe as Socket).unref()
      return running
    } catch (error) {
      if (!gone && error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')
        continue
      await running.stop()
      throw new Error(`PgBouncer does not start: ${log}`, { cause: error })
    }
  }
}

function settingsFor(server: URL, port: number, options: PgBouncerOptions): string[] {
  const { poolSize, ignoreStartupParameters = [], maxPreparedStatements = 0 } = options
  const cannot = cannotTrackStatements()
  if (cannot && maxPreparedStatements > 0) throw new Error(cannot)
  const role = decodeURIComponent(server.username)
  return [
    '[databases]',
    `* = host=${server.hostname} port=${server.port || 5432}`,
    '[pgbouncer]',
    // Newer versions ask for TLS first, which what stands between them and the server cannot read.
    'server_tls_sslmode = disable',
    'pool_mode = transaction',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    'auth_file = users',
    `admin_users = ${role}`,
    'max_client_conn = 500',
    `default_pool_size = ${poolSize}`,
    // A client's next transaction goes to another server connection, as often as there is one.
    'server_round_robin = 1',
    `query_wait_timeout = ${PATIENCE_S}`,
    `ignore_startup_parameters = ${ignoreStartupParameters.join(', ')}`,
    ...(cannot ? [] : [`max_prepared_statements = ${maxPreparedStatements}`]),
  ]
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/** PgBouncer's own console takes simple queries and no others. */
export async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(query)).rows
  } finally {
    await client.end()
  }
}
