import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint, isOncelyError, OncelyError } from 'oncely'

import type * as errors from '../src/errors.ts'
import { testDatabase } from './support/database.ts'

const database = testDatabase()

/** A second copy of the module, as a second installed copy of the package would bring it. */
async function secondCopy(): Promise<typeof errors> {
  const specifier = '../src/errors.ts?copy'
  return (await import(specifier)) as typeof errors
}

async function caught(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('an OncelyError', () => {
  it('is an Error with a name, a code, a message and a stack', () => {
    const error = new OncelyError('invalid_key', 'the key is bad')
    ok(error instanceof Error)
    strictEqual(error.name, 'OncelyError')
    strictEqual(error.code, 'invalid_key')
    strictEqual(error.message, 'the key is bad')
    ok(error.stack?.startsWith('OncelyError: the key is bad'))
  })

  it('keeps its cause as it is, whatever it is, and has none unless given', () => {
    const cause = new Error('socket')
    strictEqual(new OncelyError('transaction_not_started', '', { cause }).cause, cause)
    strictEqual(new OncelyError('transaction_not_started', '', { cause: null }).cause, null)
    strictEqual('cause' in new OncelyError('transaction_not_started', '', {}), false)
    strictEqual('cause' in new OncelyError('not_json', '', { path: '$' }), false)
  })

  it('carries the error of the driver when no connection is to be had', async () => {
    const connectionString = 'postgres://nobody@127.0.0.1:1/none'
    const nowhere = createIdempotency(database.connect({ connectionString }))
    const scope = { tenant: 't', actor: 'a', operation: 'o' }
    const print = fingerprint(1, { version: 1 })
    const error = await caught(() => nowhere.withIdempotency(scope, 'k', print, () => 1))
    ok(isOncelyError(error))
    strictEqual(error.code, 'transaction_not_started')
    strictEqual((error.cause as { code?: unknown }).code, 'ECONNREFUSED')
  })

  it('has a path with not_json alone', async () => {
    const idempotency = createIdempotency(database.connect())
    const scope = { tenant: 't', actor: 'a', operation: 'o' }
    const print = fingerprint(1, { version: 1 })
    const elsewhere = database.connect().withSchema('public')
    const thrown = [
      await caught(() => fingerprint({ a: [NaN] }, { version: 1 })),
      await caught(() => idempotency.withIdempotency(scope, 'k', print, () => ({ a: [NaN] }))),
      await caught(() => fingerprint(1, { version: 0 })),
      await caught(() => idempotency.withOptions({ lockTimeoutMs: 0 })),
      await caught(() => idempotency.withIdempotency(scope, '', print, () => 1)),
      await caught(() => idempotency.withIdempotency({ ...scope, actor: '' }, 'k', print, () => 1)),
      await caught(() =>
        idempotency.withIdempotency(scope, 'k', print, (_, context) => {
          context.resource({ type: '', id: '' })
        }),
      ),
      await caught(() =>
        createIdempotency(elsewhere, { schema: 'nowhere' }).withIdempotency(
          scope,
          'k',
          print,
          () => 1,
        ),
      ),
    ]
    ok(thrown.every(isOncelyError))
    deepStrictEqual(
      thrown.map(({ code, path }) => [code, path]),
      [
        ['not_json', '$.a[0]'],
        ['not_json', '$.a[0]'],
        ['invalid_fingerprint', undefined],
        ['invalid_options', undefined],
        ['invalid_key', undefined],
        ['invalid_scope', undefined],
        ['invalid_resource', undefined],
        ['schema_missing', undefined],
      ],
    )
  })
})

describe('isOncelyError', () => {
  it('knows an error of another copy of the package, which instanceof does not', async () => {
    const copy = await secondCopy()
    notStrictEqual(copy.OncelyError, OncelyError)
    const theirs = new copy.OncelyError('invalid_key', 'theirs')
    const ours = new OncelyError('invalid_key', 'ours')
    strictEqual(theirs instanceof OncelyError, false)
    strictEqual(isOncelyError(theirs), true)
    strictEqual(copy.isOncelyError(ours), true)
  })

  it('is true of a subclass', () => {
    class Special extends OncelyError {}
    strictEqual(isOncelyError(new Special('not_json', '', { path: '$' })), true)
  })

  it('is false of everything else', () => {
    const lookalike = { name: 'OncelyError', code: 'not_json', message: '', path: '$' }
    const others = [undefined, null, 'OncelyError', 0, {}, [], lookalike, () => 1, new Error('no')]
    for (const other of others) strictEqual(isOncelyError(other), false)
  })
})

describe('the list of codes', () => {
  const source = readFileSync(join(import.meta.dirname, '../src/errors.ts'), 'utf8')
  const [documentation = '', declared = ''] = source
    .slice(0, source.indexOf('\n\n', source.indexOf('export type OncelyErrorCode')))
    .split('export type OncelyErrorCode')
  const codes = [...declared.matchAll(/'([a-z_]+)'/g)].map(([, code]) => code)
  // `- \`one\`, \`another\`: what it means`
  const explained = [...documentation.matchAll(/^ \* - ((?:`[a-z_]+`(?:, )?)+): \S/gm)].flatMap(
    ([, names = '']) => [...names.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code),
  )

  it('is found in the source by this test', () => {
    ok(codes.length >= 19 && codes.includes('not_json'), codes.join())
  })

  it('has a row in docs/errors.md for every code, and for no other', () => {
    const page = readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code]) => code)
    deepStrictEqual([...new Set(rows)].sort(), codes.toSorted())
  })

  it('explains every code, and only codes that there are', () => {
    deepStrictEqual([...new Set(explained)].sort(), codes.sort())
  })
})
