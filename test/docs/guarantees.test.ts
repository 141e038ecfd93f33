import { deepStrictEqual, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/guarantees.md')

/** Of tests and suites that run: whatever may be left out shows nothing. */
function titlesOf(file: string): readonly string[] {
  const source = read(file)
  if (/\b(describe|it|test)\.(skip|todo|only)\(/.test(source)) return []
  const calls =
    /^ *(?:describe|it|test)\(\s*(['"`])((?:\\.|(?!\1)[^])*)\1(?!,\s*\{[^}]*\b(?:skip|todo)\b)/gm
  return [...source.matchAll(calls)].map(([, , title]) => String(title))
}

/** Rows of the two tables that say what shows what. */
const rows = page
  .slice(page.indexOf('## The promises'), page.indexOf('## What is not promised'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (-|promise |what is lost )/.test(line))

describe('docs/guarantees.md', () => {
  // A proof says that nobody was misled, and not which code a caller was given.
  it('names a test in each row, whatever proof stands beside it', () => {
    ok(rows.length > 30, String(rows.length))
    deepStrictEqual(
      rows.filter((row) => !row.includes('](../test/')),
      [],
    )
  })

  it('links to tests by titles that they have', () => {
    const links = [...page.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)]
    ok(links.length > 30, String(links.length))
    const wrong = links.filter(
      ([, words = '', file = '']) => !titlesOf(file).some((title) => title.includes(words)),
    )
    deepStrictEqual(
      wrong.map(([link]) => link),
      [],
    )
  })

  it('links to nothing that is not there', () => {
    const links = [...page.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, to]) => String(to))
    ok(links.includes('drivers.md') && links.includes('seeded-bugs.md'))
    const missing = links.filter((link) => !existsSync(join(root, 'docs', link)))
    // Written by the proof that it tells of.
    deepStrictEqual(
      missing.filter((link) => link !== 'seeded-bugs.md'),
      [],
    )
  })

  it('names commands that there are', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...page.matchAll(/`(?:npm run )?(test:[\w-]+)/g)].map(([, name]) => String(name))
    ok(named.length > 10)
    deepStrictEqual(
      named.filter((name) => !(name in scripts)),
      [],
    )
  })

  it('shows an example that is compiled here, to the letter', () => {
    ok(page.includes(`\`\`\`ts\n${read('examples/orders/prove-place-order.ts')}\`\`\``))
  })
})
