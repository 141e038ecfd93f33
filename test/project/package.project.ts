import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'

interface PackageJson {
  readonly exports: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

const root = join(import.meta.dirname, '../..')
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as never
const manifest: PackageJson = read('package.json')

function run(cwd: string, command: string, args: readonly string[]): string {
  // What is compiled of a folder that is gone in a minute is not worth being kept.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env })
  strictEqual(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

describe('package.json', () => {
  it('asks for what the design says: Node, kysely and pg of the host, and two small packages', () => {
    const { engines, type, sideEffects, dependencies, peerDependencies, peerDependenciesMeta } =
      manifest
    deepStrictEqual(
      { engines, type, sideEffects, dependencies, peerDependencies, peerDependenciesMeta },
      {
        engines: { node: '>=22.12' },
        type: 'module',
        sideEffects: false,
        dependencies: {
          'fast-json-stable-stringify': '^2.1.0',
          'structured-headers': '^2.1.0',
        },
        peerDependencies: { kysely: '>=0.29.8 <0.30', pg: '^8.23.1' },
        peerDependenciesMeta: { pg: { optional: true } },
      },
    )
    deepStrictEqual(Object.keys(manifest.bin), ['oncely'])
  })
})

describe('package-lock.json', () => {
  const lock: { packages: Record<string, Record<string, unknown>> } = read('package-lock.json')

  it('names no registry, so that npm uses whichever is set up', () => {
    for (const [path, entry] of Object.entries(lock.packages)) {
      // Where to send money or complaints is nothing that npm installs from.
      const { funding: _, deprecated: __, ...installed } = entry
      ok(!('resolved' in installed), `${path} has an address`)
      ok(!/https?:|git[+@:]/.test(JSON.stringify(installed)), `${path} has an address`)
    }
  })

  it('has the digest of every package', () => {
    const unsigned = Object.entries(lock.packages).filter(
      ([path, { integrity, inBundle, link }]) => path !== '' && !integrity && !inBundle && !link,
    )
    deepStrictEqual(unsigned, [])
  })
})

// Built beside the project, whose own dist may be older than the sources or not there at all.
describe('the package as it is built and packed', () => {
  const copy = mkdtempSync(join(tmpdir(), 'oncely-package-'))
  let packed: readonly string[]

  before(() => {
    const ignored = /^\/(node_modules|dist|\.git)(\/|$)/
    cpSync(root, copy, {
      recursive: true,
      filter: (path) => !ignored.test(path.slice(root.length)),
    })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    // `npm run typecheck` has looked at the types.
    const build = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck']
    run(copy, process.execPath, build)
    const [report] = JSON.parse(
      run(copy, 'npm', ['pack', '--dry-run', '--json', '--ignore-scripts']),
    ) as [{ files: { path: string }[] }]
    packed = report.files.map(({ path }) => path)
  })
  after(() => {
    rmSync(copy, { recursive: true })
  })

  it('holds every file that exports and bin name, with its types', () => {
    const named = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
    ok(named.length >= 5)
    for (const path of named.map((name) => name.replace('./', ''))) {
      ok(packed.includes(path), path)
      if (path.endsWith('.js')) ok(packed.includes(path.replace('.js', '.d.ts')), path)
    }
  })

  it('holds nothing but what a user needs: no tests, no sources', () => {
    const built = /^dist\/(src|migrations|codegen)\/(?!.*\.test\.).+\.(js|d\.ts)$/
    deepStrictEqual(packed.filter((path) => !built.test(path)).sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'docs/choosing.md',
      'docs/client.md',
      'docs/drivers.md',
      'docs/errors.md',
      'docs/guarantees.md',
      'docs/http.md',
      'docs/seeded-bugs.md',
      'package.json',
    ])
  })

  for (const entry of Object.keys(manifest.exports)) {
    it(`can be imported and required: ${entry}`, () => {
      const name = JSON.stringify(entry.replace('.', 'oncely'))
      const attributes = name.endsWith('.json"') ? ", { with: { type: 'json' } }" : ''
      const load = `const a = require(${name}); import(${name}${attributes}).then((b) => {
        if (Object.keys(a).length === 0 || Object.keys(b).length === 0) throw new Error('empty')
      })`
      run(copy, process.execPath, ['--input-type=commonjs', '-e', load])
    })
  }

  it('has a command that starts', () => {
    const path = join(copy, String(manifest.bin['oncely']))
    match(readFileSync(path, 'utf8'), /^#!\/usr\/bin\/env node\n/)
    match(run(copy, process.execPath, [path, '--help']), /^usage: oncely /)
  })
})
