import { strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

import { sql } from 'kysely'

import type { TestDatabase } from './database.ts'
import type { HostName } from './hosts.ts'
import { fromSources } from './sources.ts'

const root = join(import.meta.dirname, '../..')
const script = join(root, 'test/support/idle-caller.ts')

/**
 * A process of its own that has lost its connection, held by a function that waits for something else,
 * or idle in the pool.
 */
export async function idleProcess(
  t: TestContext,
  database: TestDatabase,
  host: HostName,
  how: 'held' | 'idle',
) {
  const child = spawn(process.execPath, [...fromSources, script, database.url, host, how], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const errors = child.stderr.toArray()
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const says = async () => String((await lines.next()).value)
  strictEqual(await says(), 'ready')
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = ${`${host} ${how}`}`.execute(database.watcher)
  return { child, exit, says, errors: errors.then((chunks) => chunks.join('')) }
}
