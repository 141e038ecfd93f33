import { deepStrictEqual, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const root = join(import.meta.dirname, '../..')

/** What a host writes, whose types kysely-codegen made of a database that our tables are in too. */
const sampleOf = (file: string, table: string, number: string, count: string) => `
import type { Kysely } from 'kysely'
import { createIdempotency, fingerprint } from 'oncely'
import type { DB as Ours } from 'oncely-codegen'
import type { DB } from './${file}'

declare const db: Kysely<DB>
declare const both: Kysely<DB & Ours>

const scope = { tenant: 't', actor: 'a', operation: 'o' }
const print = fingerprint({}, { version: 1 })

export async function calls() {
  const result = await createIdempotency(db).withIdempotency(scope, 'k', print, async (tx) => {
    const query = tx.selectFrom('${table}').select(['${number}', '${count}'])
    return query.executeTakeFirstOrThrow()
  })
  if (result.ok) {
    const row: { ${number}: string; ${count}: number } = result.value
    // @ts-expect-error: it is a number.
    const wrong: { ${count}: string } = result.value
    return [row, wrong]
  }
  const joined = await both.transaction().execute((tx) =>
    createIdempotency(both)
      .withTransaction(tx)
      .withIdempotency(scope, 'k', print, () =>
        tx.selectFrom('records').select('state').execute(),
      ),
  )
  return joined.kind
}
`

function run(cwd: string, command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', command), args, {
    cwd,
    encoding: 'utf8',
  })
  deepStrictEqual({ status, said: status === 0 ? '' : stdout + stderr }, { status: 0, said: '' })
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'oncely-codegen-'))
  t.after(() => {
    rmSync(path, { recursive: true })
  })
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  const paths = {
    oncely: [join(root, 'src/index.ts')],
    'oncely-codegen': [join(root, 'codegen/db.ts')],
  }
  const tsconfig = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths },
    include: ['*.ts'],
  }
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(tsconfig))
  writeFileSync(join(path, 'package.json'), JSON.stringify({ type: 'module' }))
  return path
}

describe("a host's own types by kysely-codegen, of a database with our tables", () => {
  it('D16: as they are and in camel case: do for an idempotency, alone and beside ours', (t) => {
    const path = folder(t)
    for (const [name, number, flags] of [
      ['plain', 'order_number', []],
      ['camel', 'orderNumber', ['--camel-case']],
    ] as const) {
      const types = join(path, `${name}-db.ts`)
      run(path, 'kysely-codegen', [
        ...['--dialect', 'postgres', '--url', database.url, '--out-file', types],
        ...['--log-level', 'warn', ...flags],
      ])
      match(readFileSync(types, 'utf8'), /"idem\.orders"/)
      const sample = sampleOf(`${name}-db.ts`, 'idem.orders', number, 'quantity')
      writeFileSync(join(path, `${name}.ts`), sample)
    }
    run(path, 'tsc', ['-p', '.'])
  })
})
