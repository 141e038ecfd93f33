import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, it } from 'node:test'

import { sql } from 'kysely'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const root = join(import.meta.dirname, '../..')

/** `npm run demo` without npm, and with nothing in its environment that is not said here. */
function demo(url: string) {
  return spawnSync(process.execPath, ['--import', 'tsx', 'examples/demo/main.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], DATABASE_URL: url },
  })
}

async function schemas(): Promise<unknown[]> {
  const { rows } = await sql`
    select nspname from pg_namespace where nspname !~ '^pg_' order by 1`.execute(database.watcher)
  return rows
}

describe('the demo on DATABASE_URL', () => {
  it('passes, is readable and leaves the database as it was', async () => {
    const before = await schemas()
    const { status, stdout, stderr } = demo(database.url)
    deepStrictEqual([status, stderr], [0, ''], stdout)

    const lines = stdout.trimEnd().split('\n')
    strictEqual(lines.filter((line) => line === '  PASS').length, 8)
    strictEqual(lines.filter((line) => line.includes('FAIL')).length, 0)
    ok(lines.includes('8 of 8 passed'))
    strictEqual(lines.at(-1), 'orders 3, outbox 3, sink 3, records 3')
    deepStrictEqual(
      lines.filter((line) => line.length > 100),
      [],
    )
    strictEqual(stdout, stripVTControlCharacters(stdout))

    match(stdout, /pg_stat_activity: twin \(pid \d+\) waits, Lock: transactionid/)
    match(stdout, /in_progress .*55P03/)
    match(stdout, /23505/)
    deepStrictEqual(await schemas(), before)
  })

  it('says in one line that a database cannot be reached', () => {
    const { status, stdout, stderr } = demo('postgres://u:secret@127.0.0.1:1/db')
    deepStrictEqual([status, stdout], [1, ''])
    match(stderr, /^oncely: [^\n]*127\.0\.0\.1:1[^\n]*\n$/)
    ok(!stderr.includes('secret'))
  })

  it('says in one line that a role is refused', () => {
    const url = Object.assign(new URL(database.url), { username: 'nemo' })
    const { status, stdout, stderr } = demo(url.href)
    deepStrictEqual([status, stdout], [1, ''])
    match(stderr, /^oncely: [^\n]*refused[^\n]*"nemo"[^\n]*\n$/)
  })
})
