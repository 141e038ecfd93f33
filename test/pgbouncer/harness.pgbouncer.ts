import { ok, rejects, strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'

import { testDatabase } from '../support/database.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { startPgBouncer } from '../support/pgbouncer-server.ts'
import { ask, processesIn, untilGone } from '../support/server-owner.ts'

const database = testDatabase()
const pooler = pgBouncer(database.url, { poolSize: 1 })

describe('a PgBouncer of our own', { timeout: 60_000 }, () => {
  it('leads to any database of the server, for who has the password', async () => {
    const name = new URL(database.url).pathname.slice(1)
    strictEqual(await ask(pooler.url(), 'select current_database()'), name)
    strictEqual(await ask(pooler.urlOf('postgres'), 'select current_database()'), 'postgres')
    const guess = Object.assign(new URL(pooler.url()), { password: 'guessed' }).href
    await rejects(ask(guess, 'select 1'), { severity: 'FATAL' })
  })

  it('leaves no process and no folder when stopped', async () => {
    const running = await startPgBouncer(database.url, { poolSize: 1 })
    ok(processesIn(running.folder).length > 0)
    await running.stop()
    await untilGone(running.folder)
    await rejects(ask(running.url, 'select 1'), { code: 'ECONNREFUSED' })
  })

  it('goes with its folder when its owner is killed by SIGKILL', async (t) => {
    const module = join(import.meta.dirname, '../support/pgbouncer-server.ts')
    const script = `
      import { startPgBouncer } from ${JSON.stringify(pathToFileURL(module).href)}
      const { folder } = await startPgBouncer(${JSON.stringify(database.url)}, { poolSize: 1 })
      console.log(folder)
      // A PgBouncer keeps no process: this one would end by itself, and not be killed.
      setInterval(() => undefined, 60_000)`
    const args = ['--import', 'tsx', '--input-type=module', '-e', script]
    const owner = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    t.after(() => owner.kill('SIGKILL'))
    const [folder] = (await once(createInterface(owner.stdout), 'line')) as [string]
    ok(processesIn(folder).length > 0)
    process.kill(-Number(owner.pid), 'SIGKILL')
    await untilGone(folder)
  })

  it('says why it does not start', async () => {
    const broken = startPgBouncer(database.url, { poolSize: 'many' as never })
    await rejects(broken, /default_pool_size/)
  })
})
