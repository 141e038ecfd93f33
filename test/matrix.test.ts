// What the matrix runs, and how it reads what came of it; the matrix itself takes minutes.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

import { OLDEST_VERSION } from '../src/postgres/server.ts'
import { majors, matrixArguments } from '../scripts/matrix/arguments.ts'
import { goesToGivenServer } from '../scripts/matrix/short.ts'
import { tallyOf } from '../scripts/matrix/tally.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const files = globSync('test/**/*.test.ts', { cwd: root })
const short = files.filter((file) => goesToGivenServer(read(file)))

/** What is imported of a file of ours, and from where. */
const IMPORT = /^(?:import|export) ([^']*)\bfrom '(\.[^']+)'/gm

/** A file, and what it imports of the tests' own at run time, however deep. */
function withImports(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  for (const [, what = '', from = ''] of read(file).matchAll(IMPORT)) {
    const imported = join(dirname(file), from)
    const isOurs = imported.startsWith(join('test', '/')) && existsSync(join(root, imported))
    if (isOurs && !what.startsWith('type ')) withImports(imported, found)
  }
  return found
}

describe('the matrix', () => {
  it('begins with the oldest version that is supported, and is whole unless some are named', () => {
    strictEqual(majors[0], OLDEST_VERSION)
    deepStrictEqual(matrixArguments([]), { majors, short: false })
    deepStrictEqual(matrixArguments(['17', '14']), { majors: [14, 17], short: false })
    deepStrictEqual(matrixArguments(['--short']), { majors, short: true })
  })

  it('refuses what it does not know, and runs nothing', () => {
    const args = ['--import', 'tsx', 'scripts/matrix.ts', '14', '13', '--fast']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
    })
    deepStrictEqual([status, stdout], [2, ''])
    match(stderr, /unknown: 13, --fast; may be given: 14, 15, 16, 17, 18, --short/)
  })

  it('leaves out of the short one what goes to no server', () => {
    ok(short.length > files.length / 2)
    const cases: [file: string, goes: boolean][] = [
      ['test/with-idempotency/branches.test.ts', true],
      ['test/migrate/migrate.test.ts', true],
      ['test/conformance/pg.test.ts', true],
      ['test/conformance/pglite.test.ts', false],
      ['test/fingerprint/refusals.test.ts', false],
      ['test/with-idempotency/server-lost.test.ts', true],
    ]
    for (const [file, goes] of cases) strictEqual(short.includes(file), goes, file)
  })

  it('leaves out of the short one nothing that comes to the given server in another way', () => {
    const comes = (file: string) =>
      [...withImports(file)].some((part) => /\bONCELY_TEST_SERVER\b/.test(read(part)))
    // This one speaks of it; the others show that the way is found.
    const left = files.filter((file) => !short.includes(file) && file !== 'test/matrix.test.ts')
    deepStrictEqual(left.filter(comes), [])
    ok(comes('test/conformance/pg.test.ts') && comes('test/cli/migrate.test.ts'))
  })

  it('counts a run by what the runner says at its end, and a cancelled test as failed', () => {
    const output = 'ℹ tests 9\nℹ pass 5\nℹ fail 1\nℹ cancelled 1\nℹ skipped 2\nℹ todo 0\n'
    deepStrictEqual(tallyOf(output), { passed: 5, failed: 2, skipped: 2 })
    strictEqual(tallyOf('✔ a test\n'), undefined)
  })
})
