import { deepStrictEqual, doesNotMatch, match, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { refuseOld } from '../../src/postgres/server.ts'
import { oncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const applied = ['0001-records', '0002-outbox', '0003-sink'].map((name) => `applied ${name}\n`)

/** The same server, where one part of the connection string is not as it should be. */
function wrong(parts: Partial<Pick<URL, 'username' | 'password' | 'pathname' | 'host'>>): string {
  return Object.assign(new URL(database.url), parts).href
}

describe('oncely migrate', () => {
  it('applies what is missing and says so, and says that there is nothing to do', async () => {
    const url = await emptyDatabase(database)
    deepStrictEqual(oncely(['migrate', '--url', url]), {
      status: 0,
      stdout: applied.join(''),
      stderr: '',
    })
    deepStrictEqual(oncely(['migrate', '--url', url]), {
      status: 0,
      stdout: "nothing to do: 'idem' is up to date\n",
      stderr: '',
    })
  })

  it('takes the database from DATABASE_URL, and from --url before that', async () => {
    const [url, other] = [await emptyDatabase(database), wrong({ pathname: '/nowhere' })]
    strictEqual(oncely(['migrate'], { env: { DATABASE_URL: url } }).stdout, applied.join(''))
    const both = oncely(['migrate', `--url=${url}`], { env: { DATABASE_URL: other } })
    strictEqual(both.stdout, "nothing to do: 'idem' is up to date\n")
  })

  it('creates the tables in the schema that --schema names, with the orders by --with-orders', async () => {
    const url = await emptyDatabase(database)
    const run = (...args: string[]) =>
      oncely(['migrate', '--url', url, '--schema', 'My "Idem"', ...args]).stdout
    strictEqual(run(), applied.join(''))
    strictEqual(run('--with-orders'), 'applied 0004-orders\n')
    strictEqual(run(), 'nothing to do: \'My "Idem"\' is up to date\n')
  })

  it('says which migration failed, in one line', async () => {
    const url = await emptyDatabase(database)
    const db = database.connect({ schema: null, connectionString: url })
    await db.schema.createSchema('idem').execute()
    await db.withSchema('idem').schema.createTable('records').execute()
    const { status, stdout, stderr } = oncely(['migrate', '--url', url])
    deepStrictEqual([status, stdout], [1, ''])
    match(stderr, /^oncely: migration 0001-records failed: [^\n]+\n$/)
  })

  const cases: readonly [what: string, status: number, says: RegExp, args: readonly string[]][] = [
    ['no database', 2, /--url, DATABASE_URL or a kysely.config.ts/, []],
    ['a text that is not a URL', 2, /postgres:\/\//, ['--url', 'nonsense']],
    ['a URL that is broken', 2, /connection string/, ['--url', 'postgres://u:secret@[half/db']],
    ['a URL of something else', 2, /postgres:\/\//, ['--url', 'https://u:secret@127.0.0.1/db']],
    ['--url without a value', 2, /--url/, ['--url']],
    ['an option there is not', 2, /--force/, ['--url', database.url, '--force']],
    ['an argument too many', 2, /now/, ['--url', database.url, 'now']],
    ['a schema no database can have', 2, /schema/, ['--url', database.url, '--schema', '']],
    ['nobody listening', 1, /127\.0\.0\.1:1: .*ECONN/, ['--url', wrong({ host: '127.0.0.1:1' })]],
    ['a wrong password', 1, /refused/, ['--url', wrong({ password: 'secret' })]],
    ['an unknown role', 1, /refused.*"nemo"/, ['--url', wrong({ username: 'nemo' })]],
    ['a missing database', 1, /"nowhere"/, ['--url', wrong({ pathname: 'nowhere' })]],
  ]
  for (const [what, status, says, args] of cases) {
    it(`exits with ${status} and one line for ${what}`, () => {
      const run = oncely(['migrate', ...args])
      match(run.stderr, /^oncely: [^\n]+\n$/)
      match(run.stderr, says)
      doesNotMatch(run.stderr, /secret/)
      deepStrictEqual([run.status, run.stdout], [status, ''])
    })
  }

  it('refuses a server older than 14', () => {
    const refusal = {
      code: 'server_too_old',
      message: /^the server is PostgreSQL 13; .* 14 or newer$/,
    }
    throws(() => {
      refuseOld(130_023)
    }, refusal)
    refuseOld(140_000)
    refuseOld(180_004)
  })
})

describe('oncely', () => {
  it('shows how it is used when no command or an unknown one is named, and exits with 2', () => {
    for (const args of [[], ['migrat'], ['constructor'], ['toString']]) {
      const { status, stdout, stderr } = oncely(args)
      deepStrictEqual([status, stdout], [2, ''])
      match(stderr, /^usage: oncely COMMAND /)
    }
  })

  it('says its version', () => {
    match(oncely(['--version']).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('shows how it is used by --help, and exits with 0', () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { status, stdout, stderr } = oncely(args)
      deepStrictEqual([status, stderr], [0, ''])
      match(stdout, /^usage: oncely COMMAND /)
      match(stdout, /--url URL[^]+--schema NAME[^]+--with-orders/)
    }
  })
})
