// docs/drivers.md names every host that the conformance suite runs on, and tests that are there.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const folder = join(import.meta.dirname, '../../docs')
const page = readFileSync(join(folder, 'drivers.md'), 'utf8')
const links = [...page.matchAll(/\]\((\.\.\/[^)]+)\)/g)].map(([, link]) => String(link))

describe('docs/drivers.md', () => {
  it('has every host of the conformance suite', () => {
    const files = ['conformance/*.test.ts', 'pgbouncer/conformance.*.ts']
    const hosts = globSync(files, { cwd: join(folder, '../test') })
    ok(hosts.length >= 7)
    deepStrictEqual(
      hosts.filter((file) => !links.includes(`../test/${file}`)),
      [],
    )
  })

  it('links to nothing that is not there', () => {
    deepStrictEqual(
      links.filter((link) => !existsSync(join(folder, link))),
      [],
    )
  })

  it('speaks of the version of postgres.js that is tried', () => {
    const manifest = join(folder, '../node_modules/postgres/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    deepStrictEqual([...new Set(page.match(/postgres\.js \d\S+/g))], [`postgres.js ${version}`])
  })
})
