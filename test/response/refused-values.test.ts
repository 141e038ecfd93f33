import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { failureOf } from '../support/calls.ts'
import { nothing, notesHost, one, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect())

class Money {
  readonly minor = 1999
}

const cycle: Record<string, unknown> = {}
cycle['list'] = [1, cycle]

const deep = Array.from({ length: 501 }).reduce<unknown>((inner) => ({ a: inner }), 1)

const refused: [what: string, returned: unknown, path: string][] = [
  ['NaN', NaN, '$'],
  ['NaN within', { items: [{ price: 1 }, { price: NaN }] }, '$.items[1].price'],
  ['Infinity', { rate: Infinity }, '$.rate'],
  ['minus Infinity', [-Infinity], '$[0]'],
  ['a bigint', { id: 1n }, '$.id'],
  ['a Map', { rows: new Map([['a', 1]]) }, '$.rows'],
  ['a Set', [[new Set([1])]], '$[0][0]'],
  ['an instance of a class', { total: new Money() }, '$.total'],
  ['an Error', { error: new Error('no') }, '$.error'],
  ['a RegExp', { 'matched by': /a/ }, '$["matched by"]'],
  ['a typed array', { bytes: new Uint8Array(1) }, '$.bytes'],
  ['a promise within', { order: Promise.resolve(1) }, '$.order'],
  ['a cycle', cycle, '$.list[1]'],
  ['more than 500 levels', deep, `$${'.a'.repeat(500)}`],
  ['a function', () => 1, '$'],
  ['a function within', { next: () => 1 }, '$.next'],
  ['a symbol', { kind: Symbol('a') }, '$.kind'],
  ['a property by symbol', { a: { [Symbol('a')]: 1 } }, '$.a'],
  ['undefined in an array', { list: [1, undefined] }, '$.list[1]'],
  // eslint-disable-next-line no-sparse-arrays -- the hole is what is tested
  ['a hole in an array', { list: [1, , 3] }, '$.list'],
  ['an invalid Date, which JSON would make null', { at: new Date(NaN) }, '$.at'],
  ['what toJSON makes of it', { a: { toJSON: () => [NaN] } }, '$.a[0]'],
  ['A13: a stream of Node', { body: Readable.from(['a']) }, '$.body'],
  ['A13: a stream of the web', { body: new ReadableStream() }, '$.body'],
  ['A13: an async iterable', (async function* () {})(), '$'],
]

describe('what a function may not return', () => {
  for (const [what, returned, path] of refused) {
    it(`${what}: not_json with its path, nothing is stored and the key is free`, async () => {
      const call = idempotency.withIdempotency(scope, what, one, async (tx, context) => {
        await writeNote(tx, context)
        return { returned }.returned
      })
      await rejects(call, { name: 'OncelyError', code: 'not_json', path })
      deepStrictEqual(await host.left(what), nothing)

      const again = await idempotency.withIdempotency(scope, what, one, writeNote)
      deepStrictEqual(again, { ok: true, kind: 'executed', value: 'note' })
      deepStrictEqual(await host.left(what), written)
    })

    it(`${what}: nor refuse with it`, async () => {
      const key = `refusal: ${what}`
      const call = idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        return context.reject(returned)
      })
      await rejects(call, { name: 'OncelyError', code: 'not_json', path })
      deepStrictEqual(await host.left(key), nothing)

      const again = await idempotency.withIdempotency(scope, key, one, writeNote)
      deepStrictEqual(again, { ok: true, kind: 'executed', value: 'note' })
    })
  }

  it('throws on what a toJSON or a getter throws, unchanged, and keeps nothing', async () => {
    const error = new Error('no JSON of mine')
    const fail = () => {
      throw error
    }
    const getter = Object.defineProperty({}, 'a', { enumerable: true, get: fail })
    for (const returned of [{ toJSON: fail }, { a: [{ toJSON: fail }] }, getter]) {
      const call = idempotency.withIdempotency(scope, 'throwing', one, async (tx, context) => {
        await writeNote(tx, context)
        return returned
      })
      strictEqual(await failureOf(call), error)
      deepStrictEqual(await host.left('throwing'), nothing)
    }
  })
})
