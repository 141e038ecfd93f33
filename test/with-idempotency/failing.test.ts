import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { notesHost, nothing, one, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())

/** Writes, then throws `failure`; without one it succeeds. */
function call(key: string, ...failure: unknown[]) {
  return idempotency.withIdempotency(scope, key, one, async (tx, context) => {
    context.resource({ type: 'note', id: 'note' })
    const body = await writeNote(tx, context)
    if (failure.length > 0) throw failure[0]
    return body
  })
}

describe('what the function throws', () => {
  const transient = [
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('could not serialize access'), { code: '40001', severity: 'ERROR' }),
    Object.assign(new Error('lock timeout'), { code: '55P03', severity: 'ERROR' }),
    Object.assign(new Error('no such table'), { code: '42P01', severity: 'ERROR' }),
  ]
  for (const failure of transient) {
    it(`A11: is not pinned to the key: ${failure.code}, and the retry executes`, async () => {
      const key = `transient ${failure.code}`
      strictEqual(await failureOf(call(key, failure)), failure)
      deepStrictEqual(await host.left(key), nothing)
      deepStrictEqual(await call(key), { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual(await host.left(key), written)
    })
  }

  const values: [name: string, value: unknown][] = [
    ['a string', 'no'],
    ['undefined', undefined],
    ['null', null],
    ['0', 0],
    ['a frozen object', Object.freeze({ code: 'out_of_stock' })],
    ['an error with a cause', new Error('outer', { cause: new Error('inner') })],
    ['a function', () => 'no'],
  ]
  for (const [name, value] of values) {
    it(`is thrown on unchanged: ${name}`, async () => {
      strictEqual(await failureOf(call(`throws ${name}`, value)), value)
      deepStrictEqual(await host.left(`throws ${name}`), nothing)
    })
  }

  it('is thrown on unchanged when it was thrown before the first await', async () => {
    const failure = new Error('at once')
    const thrown = failureOf(
      idempotency.withIdempotency(scope, 'at once', one, () => {
        throw failure
      }),
    )
    strictEqual(await thrown, failure)
    deepStrictEqual(await host.left('at once'), nothing)
  })

  it('is thrown on, and not the error that it swallowed before', async () => {
    const own = new Error('my own reading of it')
    const thrown = failureOf(
      idempotency.withIdempotency(scope, 'translates', one, async (tx, context) => {
        await writeNote(tx, context)
        await writeNote(tx, context).catch(() => {
          throw own
        })
      }),
    )
    strictEqual(await thrown, own)
    deepStrictEqual(await host.left('translates'), nothing)
  })
})

describe('what cannot be stored', () => {
  it('fails the call before it is committed, with the path', async () => {
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'not json', one, async (tx, context) => ({
        body: await writeNote(tx, context),
        price: Number.NaN,
      })),
    )
    strictEqual(isOncelyError(failure), true)
    const { code, path } = failure as { code: string; path: string }
    deepStrictEqual([code, path], ['not_json', '$.price'])
    deepStrictEqual(await host.left('not json'), nothing)
  })
})

describe('a fingerprint of chosen parameters', () => {
  const chosen = ({ sku }: { sku: string; sentAt: number }, version = 1) =>
    fingerprint({ sku }, { version })
  const send = (print: ReturnType<typeof chosen>) =>
    idempotency.withIdempotency(scope, 'chosen', print, () => 'done')

  it('A5: is compared as it was stored: parameters left out do not count', async () => {
    strictEqual((await send(chosen({ sku: 'A', sentAt: 1 }))).kind, 'executed')
    strictEqual((await send(chosen({ sku: 'A', sentAt: 2 }))).kind, 'replayed')
    strictEqual((await send(chosen({ sku: 'B', sentAt: 1 }))).kind, 'conflict')
  })

  it('A5: of another version is another fingerprint', async () => {
    strictEqual((await send(chosen({ sku: 'A', sentAt: 1 }, 2))).kind, 'conflict')
  })
})
