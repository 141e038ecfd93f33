import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

import { oncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { insertDue, insertTombstones, keysIn, numbered } from '../support/sweeping.ts'

const database = testDatabase()
const run = (...args: string[]) => oncely(['sweep', '--url', database.url, ...args])

beforeEach(() => database.watcher.deleteFrom('records').execute())

describe('oncely sweep --once', () => {
  it('clears all that is due and says how many', async () => {
    await insertDue(database, numbered('due', 5))
    await insertDue(database, ['not due'], () => -60)
    deepStrictEqual(run('--once', '--batch', '2'), {
      status: 0,
      stdout: 'total: cleared 5, purged 0\n',
      stderr: '',
    })
    deepStrictEqual(await keysIn(database, 'completed'), ['not due'])
    strictEqual(run('--once').stdout, 'total: cleared 0, purged 0\n')
  })

  it('deletes tombstones when it is told how long they are kept, and else none', async () => {
    await insertTombstones(database, ['old', 'young'], (index) => (index === 0 ? 61 : 30))
    strictEqual(run('--once').stdout, 'total: cleared 0, purged 0\n')
    const { stdout } = run('--once', '--tombstone-window-ms', '60000')
    strictEqual(stdout, 'total: cleared 0, purged 1\n')
    deepStrictEqual(await keysIn(database, 'expired'), ['young'])
  })

  it('refuses what is no option, and what an option may not be', () => {
    for (const args of [
      ['--batch', '0'],
      ['--batch', 'many'],
      ['--interval', '0'],
      ['--interval', ''],
      ['--tombstone-window-ms', '0'],
      ['--twice'],
    ]) {
      const { status, stdout, stderr } = run('--once', ...args)
      deepStrictEqual([status, stdout], [2, ''], args.join(' '))
      match(stderr, /^oncely: [^\n]+\n$/)
    }
  })

  it('is told when the tables are missing, and exits with 1; so is the one without --once', () => {
    for (const args of [['--once'], []]) {
      const { status, stderr } = run('--schema', 'elsewhere', ...args)
      strictEqual(status, 1)
      match(stderr, /^oncely: the tables are missing: run `oncely migrate`[^\n]+\n$/)
    }
  })
})
