import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const root = join(import.meta.dirname, '../..')
const names = ['0001-records', '0002-outbox', '0003-sink', '0004-orders']

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...environment },
  })
}

/** `npx kysely migrate list`, as pairs of mark and name. */
function list(url: string): string[][] {
  const command = ['node_modules/.bin/kysely', 'migrate', 'list']
  const { status, stdout, stderr } = run(command, { DATABASE_URL: url })
  deepStrictEqual([status, stderr], [0, ''])
  return [...stdout.matchAll(/\[(.)\] (\S+)$/gm)].map(([, mark, name]) => [`${mark}`, `${name}`])
}

describe('kysely-ctl by kysely.config.ts', () => {
  it('lists all four migrations, and agrees with oncely migrate on what is applied', async () => {
    const url = await emptyDatabase(database)
    const migrate = ['src/cli/main.ts', 'migrate', '--url', url]
    const pending = names.map((name) => [' ', name])
    const applied = names.map((name) => ['✓', name])

    deepStrictEqual(list(url), pending)
    strictEqual(run(migrate).status, 0)
    deepStrictEqual(list(url), [...applied.slice(0, 3), ...pending.slice(3)])
    strictEqual(run([...migrate, '--with-orders']).stdout, 'applied 0004-orders\n')
    deepStrictEqual(list(url), applied)
  })

  it('says which variable is missing', () => {
    const { status, stderr } = run(['node_modules/.bin/kysely', 'migrate', 'list'])
    notStrictEqual(status, 0)
    strictEqual(stderr.includes('set DATABASE_URL'), true)
  })
})
