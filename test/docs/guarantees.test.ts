import { deepStrictEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/guarantees.md')

/** Rows of the two tables that say what shows what. */
const rows = page
  .slice(page.indexOf('## The promises'), page.indexOf('## What is not promised'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (-|promise |what is lost )/.test(line))

describe('docs/guarantees.md', () => {
  it('names a test or a proof in each row', () => {
    ok(rows.length > 30, String(rows.length))
    deepStrictEqual(
      rows.filter((row) => !/\]\(\.\.\/test\/|`test:(schedules|faults)`/.test(row)),
      [],
    )
  })

  it('links to tests by titles that they have', () => {
    const links = [...page.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)]
    ok(links.length > 30, String(links.length))
    const wrong = links.filter(([, title = '', file = '']) => !read(file).includes(title))
    deepStrictEqual(
      wrong.map(([link]) => link),
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
    const [, code = ''] = /```ts\n(const placing[^]*?)```/.exec(page) ?? []
    ok(code !== '' && read('examples/orders/prove-place-order.ts').includes(code), code)
  })
})
