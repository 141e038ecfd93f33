import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { verdictOn } from '../../src/client/verdict.ts'
import { describeSentences, pageOf } from './numbered-sentences.ts'

const root = join(import.meta.dirname, '../..')
const page = pageOf('client.md')

/** The cells of the table whose head starts so, without their marks of code. */
function tableOf(head: string): string[][] {
  const lines = page.slice(page.indexOf(`| ${head}`)).split('\n')
  const rows = lines.slice(2, lines.indexOf(''))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

describeSentences('client.md', {
  files: (file) => file.startsWith('client-'),
  from: '## One key for one intent',
})

describe('docs/client.md, held against the sources', () => {
  it('shows every example of examples/clients, to the letter, and no other code', () => {
    const files = globSync('*.ts', { cwd: join(root, 'examples/clients') }).sort()
    ok(files.length >= 8)
    const examples = files.map((file) => readFileSync(join(root, 'examples/clients', file), 'utf8'))
    const shown = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => String(code))
    deepStrictEqual(shown.toSorted(), examples.toSorted())
  })

  it('says of every status, code and Retry-After what the client makes of it', () => {
    const rows = tableOf('status')
    const codes = [...new Set(rows.map(([, code]) => code))].filter((code) => code !== 'any')
    strictEqual(codes.length, 7)
    const fits = (cell: string | undefined, value: string) => cell === 'any' || cell === value
    const stored = [
      ['idempotent-replayed', 'true'],
      ['idempotency-key-retention', '3600'],
    ] as const
    /** Such as 409, `2xx`, `other 4xx`. */
    const isOf = (cell: string | undefined, status: number) =>
      cell === 'any other' ||
      new RegExp(
        `^${String(cell)
          .replace(/^other /, '')
          .replaceAll('x', '.')}$`,
      ).test(`${status}`)
    const said: string[] = []
    const meant: string[] = []
    for (let status = 200; status < 600; status += 1) {
      for (const code of [...codes, 'other']) {
        for (const retryAfter of ['one', 'none']) {
          const row = rows.find(
            ([of, its, after]) =>
              isOf(of, status) && fits(its, String(code)) && fits(after, retryAfter),
          )
          const headers = new Headers({ 'content-type': 'application/problem+json' })
          if (retryAfter === 'one') headers.set('retry-after', '1')
          const problem = code === 'none' ? {} : { code }
          const content = new TextEncoder().encode(JSON.stringify(problem)).buffer
          const answer = `${status} ${String(code)} ${retryAfter}`
          said.push(`${answer}: ${String(row?.[3])}`)
          meant.push(`${answer}: ${verdictOn({ status, headers }, content)}`)
          // Stored by the endpoint.
          const means = String(row?.[3]).replace(/^(refused|dead end)$/, 'final')
          for (const [name, value] of stored) {
            const ofStored = new Headers([...headers, [name, value]])
            said.push(`${answer} ${name}: ${means}`)
            meant.push(`${answer} ${name}: ${verdictOn({ status, headers: ofStored }, content)}`)
          }
        }
      }
    }
    deepStrictEqual(said, meant)
  })

  it('says what the client does by what an answer means', () => {
    const does = {
      final: /^gives it to you$/,
      refused: /^gives it to you, unless/,
      'dead end': /^throws outcome_unknown/,
      key_reused: /^throws/,
      key_expired: /^throws/,
    }
    for (const [status, , , means = '', what = ''] of tableOf('status')) {
      const pattern = means in does ? does[means as keyof typeof does] : /^(sends again|the same)/
      ok(pattern.test(what), `${String(status)}: ${what}`)
    }
  })

  it('says of every outcome what to tell the person', () => {
    const example = readFileSync(join(root, 'examples/clients/place-order.ts'), 'utf8')
    const kinds = [...example.matchAll(/readonly kind: (.+?);/g)].flatMap(([, names]) =>
      [...String(names).matchAll(/'(\w+)'/g)].map(([, kind]) => String(kind)),
    )
    const told = tableOf('what comes').map(([what]) => String(what).split(',')[0])
    deepStrictEqual([...new Set(told)], [...kinds, 'your own abort'])
  })

  it('names the versions that it is tried on, and links to nothing that is not there', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>
    }
    for (const name of ['axios', 'axios-retry', '@tanstack/query-core']) {
      const text = page.replaceAll('`', '').replace(/\s+/g, ' ')
      ok(text.includes(`${name} ${String(devDependencies[name])}`), name)
    }
    const links = [...page.matchAll(/\]\(((?!https:)[^)]+)\)/g)].map(([, link]) => String(link))
    deepStrictEqual(
      links.filter((link) => !existsSync(join(root, 'docs', link.replace(/#.*/, '')))),
      [],
    )
  })
})
