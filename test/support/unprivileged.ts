// Where a server that refuses to run as root runs instead, and on which port.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'

/** For root it is `nobody`, who is there on every system; otherwise whoever we are. */
export interface ServerUser {
  readonly uid?: number
  readonly gid?: number
}

export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string) => Number(run('id', [option, 'nobody'], {}).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A temporary folder that this user can write to, if there is one. */
export function parentFolder(user: ServerUser): string | undefined {
  return [tmpdir(), '/tmp', '/var/tmp'].find(
    (folder) => run('test', ['-w', folder, '-a', '-x', folder], user).status === 0,
  )
}

export function run(command: string, args: readonly string[], user: ServerUser) {
  return spawnSync(command, args, { ...user, cwd: '/', encoding: 'utf8' })
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no loopback port')
  return address.port
}
