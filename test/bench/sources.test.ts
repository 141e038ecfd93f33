// The benchmark runs on the sources without a transform; bench/main.ts says why.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')

describe('the benchmark', () => {
  it('is run by Node itself', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const benches = Object.entries(scripts).filter(([name]) => /^bench\b/.test(name))
    for (const [, script] of benches) match(script, /^node bench\//)
    const { status, stderr } = spawnSync(process.execPath, ['bench/main.ts', '--help'], {
      cwd: root,
      encoding: 'utf8',
    })
    deepStrictEqual([status, stderr], [0, ''])
  })

  it('measures the sources, and no build of them', () => {
    const files = globSync('bench/**/*.ts', { cwd: root })
    strictEqual(files.length > 10, true)
    const byName = files.filter((file) =>
      /(from|import) ?\(?'oncely/.test(readFileSync(join(root, file), 'utf8')),
    )
    deepStrictEqual(byName, [])
  })
})
