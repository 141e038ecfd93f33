import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'

import { sql } from 'kysely'

import type * as quickStartModule from '../examples/quick-start.ts'
import { testDatabase } from './support/database.ts'

const database = testDatabase()
const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('the README', () => {
  let quickStart: typeof quickStartModule

  before(async () => {
    await sql`create table public.orders (id text primary key, sku text, cents int)`.execute(
      database.watcher,
    )
    process.env['DATABASE_URL'] = database.url
    quickStart = await import('../examples/quick-start.ts')
  })
  after(() => quickStart.db.destroy())

  it('shows the example that is compiled here, to the letter', () => {
    ok(read('README.md').includes(`\`\`\`ts\n${read('examples/quick-start.ts')}\`\`\``))
  })

  for (const name of ['idempotency', 'express', 'fastify', 'nestjs', 'hono', 'node', 'fetch']) {
    it(`shows the route that is compiled here, to the letter: ${name}`, () => {
      ok(read('README.md').includes(`\`\`\`ts\n${read(`examples/http/${name}.ts`)}\`\`\``))
    })
  }

  it('shows the client that is compiled here, to the letter', () => {
    ok(read('README.md').includes(`\`\`\`ts\n${read('examples/client.ts')}\`\`\``))
  })

  it('shows a provider that a NestJS host is tested with, to the letter', () => {
    const [, provider = ''] = /```ts\n(\{[^]*?\n\})\n```/.exec(read('README.md')) ?? []
    const unindented = read('test/consumers/nest-program.ts').replace(/^ {4}/gm, '')
    ok(provider.includes('createIdempotency') && unindented.includes(provider), provider)
  })

  it('shows an example that does what it says', async () => {
    const order = { id: 'o-1', sku: 'TEA', cents: 1999 }
    const first = await quickStart.createOrder('acme', 'alice', 'K-1', order)
    const second = await quickStart.createOrder('acme', 'alice', 'K-1', order)
    strictEqual(first.kind, 'executed')
    strictEqual(second.kind, 'replayed')
    deepStrictEqual(second.value, first.value)
  })

  it('names every kind of result and every option', () => {
    const readme = read('README.md')
    const named = (file: string, pattern: RegExp) =>
      [...read(file).matchAll(pattern)].map(([, name]) => String(name))
    const words = [
      ...named('src/result.ts', /readonly kind: '(\w+)'/g),
      ...named('src/options.ts', /^ {2}readonly (\w+)\?:/gm),
      ...named('src/http/options.ts', /^ {2}readonly (\w+)\??:/gm),
      ...named('src/http/nest-route.ts', /^ {2}readonly (\w+)\??:/gm).filter(
        (name) => !['runs', 'options'].includes(name),
      ),
      ...named('src/client/options.ts', /^ {2}readonly (\w+)\?:/gm),
      ...named('src/operation.ts', /^ {2}readonly (\w+)\?: (?!Resource)/gm),
    ]
    ok(words.length > 10)
    deepStrictEqual(
      words.filter((word) => !new RegExp(`\`${word}\\b[^\`]*\``).test(readme)),
      [],
    )
  })
})
