import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'

import { oncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'oncely-config-'))
after(() => {
  rmSync(folder, { recursive: true })
})

let count = 0
/** A host's folder with these files, and these packages installed. */
function host(files: Readonly<Record<string, string>>, packages: readonly string[]): string {
  const cwd = join(folder, `host-${(count += 1)}`)
  mkdirSync(join(cwd, 'node_modules'), { recursive: true })
  for (const name of packages) {
    symlinkSync(join(root, 'node_modules', name), join(cwd, 'node_modules', name))
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true })
    writeFileSync(join(cwd, file), text)
  }
  return cwd
}

const esm = '{ "type": "module" }'
const imports = `import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
const pool = new pg.Pool({ connectionString: process.env.HOST_URL })
`
const withCtl = ['kysely', 'pg', 'kysely-ctl']

/** As kysely-ctl's own documentation has them. */
const configs: readonly [what: string, files: Record<string, string>, packages: string[]][] = [
  [
    'a dialect',
    {
      'package.json': esm,
      'kysely.config.ts': `import { defineConfig } from 'kysely-ctl'\n${imports}export default defineConfig({ dialect: new PostgresDialect({ pool }) })`,
    },
    withCtl,
  ],
  [
    'the name of a dialect, with its configuration made when asked for',
    {
      'package.json': esm,
      'kysely.config.ts': `${imports}export default { dialect: 'pg', dialectConfig: async () => ({ pool }) }`,
    },
    withCtl,
  ],
  [
    'a Kysely, from a file with types that Node cannot strip and no ending in its import',
    {
      'package.json': esm,
      'src/db.ts': `${imports}enum Plain { No }\nexport const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins: [] as Plain[] as [] })`,
      'kysely.config.ts': `import { db } from './src/db'\nexport default { kysely: () => db }`,
    },
    withCtl,
  ],
  [
    'a dialect, where kysely-ctl is not installed',
    {
      'package.json': esm,
      'kysely.config.ts': `${imports}export default { dialect: new PostgresDialect({ pool }) as never }`,
    },
    ['kysely', 'pg'],
  ],
  [
    'a dialect, in a CommonJS project',
    {
      'package.json': '{}',
      'kysely.config.js': `const { PostgresDialect } = require('kysely')
const pool = new (require('pg').Pool)({ connectionString: process.env.HOST_URL })
module.exports = { dialect: () => new PostgresDialect({ pool }) }`,
    },
    ['kysely', 'pg'],
  ],
  [
    'a dialect, in the folder .config',
    {
      'package.json': esm,
      '.config/kysely.config.mjs': `${imports}export default { dialect: new PostgresDialect({ pool }) }`,
    },
    withCtl,
  ],
]

describe('the database that a command uses', () => {
  for (const [what, files, packages] of configs) {
    it(`is that of the host's configuration: ${what}`, async () => {
      const url = await emptyDatabase(database)
      const cwd = host(files, packages)
      const run = (...args: string[]) => oncely(args, { cwd, env: { HOST_URL: url } })
      deepStrictEqual(run('migrate'), {
        status: 0,
        stdout: 'applied 0001-records\napplied 0002-outbox\napplied 0003-sink\n',
        stderr: '',
      })
      match(run('doctor').stdout, /all is well/)
    })
  }

  it('is first --url, then DATABASE_URL, then the configuration', async () => {
    const [flag, variable] = [await emptyDatabase(database), await emptyDatabase(database)]
    const cwd = host({ 'package.json': esm, 'kysely.config.mjs': 'throw new Error("unused")' }, [])
    const env = { DATABASE_URL: variable }
    const pending = (url: string) =>
      oncely(['migrate', 'status', '--url', url]).stdout.startsWith('pending')
    strictEqual(oncely(['migrate', '--url', flag], { cwd, env }).status, 0)
    deepStrictEqual([pending(flag), pending(variable)], [false, true])
    strictEqual(oncely(['migrate'], { cwd, env }).status, 0)
    deepStrictEqual([pending(flag), pending(variable)], [false, false])
    match(
      oncely(['migrate'], { cwd }).stderr,
      /^oncely: .*kysely\.config\.mjs: unused \[invalid_options\]\n$/,
    )
  })

  const broken: readonly [what: string, config: string, says: RegExp][] = [
    ['does not compile', 'export default {', /kysely\.config\.mjs: ./],
    ['names nothing', 'export default {}', /neither a 'kysely' nor a 'dialect'/],
    ['exports nothing', '', /kysely\.config\.mjs: ./],
    ['names another database', 'export default { dialect: "mysql2" }', /give --url instead/],
  ]
  for (const [what, config, says] of broken) {
    it(`is refused in one line where the configuration ${what}`, () => {
      const cwd = host({ 'package.json': esm, 'kysely.config.mjs': config }, [])
      const { status, stdout, stderr } = oncely(['migrate'], { cwd })
      deepStrictEqual([status, stdout], [2, ''])
      match(stderr, /^oncely: [^\n]+\n$/)
      match(stderr, says)
    })
  }

  for (const command of [
    ['migrate'],
    ['migrate', '--dry-run'],
    ['migrate', 'status'],
    ['migrate', 'down'],
    ['doctor'],
  ]) {
    it(`is said not to be there in one line by ${command.join(' ')}`, () => {
      const [, files, packages] = configs[3] ?? ['', {}, []]
      const cwd = host(files, packages)
      for (const [HOST_URL, says] of [
        ['postgres://nobody@127.0.0.1:1/none', /ECONNREFUSED/],
        [Object.assign(new URL(database.url), { password: 'secret' }).href, /password/],
      ] as const) {
        const { status, stderr } = oncely(command, { cwd, env: { HOST_URL } })
        strictEqual(status, 1)
        match(stderr, /^oncely: [^\n]+ \[[a-z_]+\]\n$/)
        match(stderr, says)
      }
    })
  }

  it('may be in the variables of .env, which kysely-ctl reads too', async () => {
    const [, files, packages] = configs[3] ?? ['', {}, []]
    const url = await emptyDatabase(database)
    const cwd = host({ ...files, '.env': `HOST_URL=${url}\n` }, packages)
    strictEqual(oncely(['migrate'], { cwd }).status, 0)
  })

  it('is not guessed when --url is empty', () => {
    const { status, stderr } = oncely(['migrate', '--url', ''], {
      env: { DATABASE_URL: database.url },
    })
    deepStrictEqual([status, stderr], [2, 'oncely: --url is empty [invalid_options]\n'])
  })
})
