import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const idempotency = createIdempotency(database.connect(), { maxResponseBytes: 8 * 2 ** 20 })
const scope = { tenant: 't1', actor: 'u1', operation: 'answers.give' }
const one = fingerprint({ n: 1 }, { version: 1 })

const call = (key: string, returned: unknown) =>
  idempotency.withIdempotency(scope, key, one, () => returned)

async function storedUnder(key: string): Promise<string | undefined> {
  const row = await database.watcher
    .selectFrom('records')
    .select('response')
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  return row.response?.toString('utf8')
}

/** Has keys that an assignment would lose or reorder. */
const parsed = (text: string) => JSON.parse(text) as unknown

class Money {
  readonly #minor = 1999
  toJSON() {
    return { minor: this.#minor, taxed: new Date(0) }
  }
}

/** What the function returns, and what the first caller and every later one get. */
const values: [what: string, returned: unknown, given: unknown][] = [
  ['undefined', undefined, undefined],
  ['null', null, null],
  ['0', 0, 0],
  ['an empty text', '', ''],
  ['false', false, false],
  ['-0, which is 0', -0, 0],
  ['-0 within', { a: [-0] }, { a: [0] }],
  [
    'what toJSON makes undefined, which is absent',
    { a: 1, b: { toJSON: () => undefined } },
    { a: 1 },
  ],
  ['an empty object', {}, {}],
  ['an empty array', [], []],
  ['the text null', 'null', 'null'],
  ['a text that is JSON', '{"a":1}', '{"a":1}'],
  ['the largest number', Number.MAX_VALUE, Number.MAX_VALUE],
  ['an integer beyond the safe ones', 2 ** 53 + 2, 9007199254740994],
  [
    'a nested value',
    { a: [{ b: [null, true, 'x', 1.5] }] },
    { a: [{ b: [null, true, 'x', 1.5] }] },
  ],
  ['an undefined property, which is absent', { a: undefined, b: 1 }, { b: 1 }],
  ['a Date, which is a text', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['Dates within', { at: [new Date(1)] }, { at: ['1970-01-01T00:00:00.001Z'] }],
  ['an object with toJSON', new Money(), { minor: 1999, taxed: '1970-01-01T00:00:00.000Z' }],
  ['a URL, which is a text', { at: new URL('http://localhost/') }, { at: 'http://localhost/' }],
  ['a Buffer as it writes itself', Buffer.from('a'), { type: 'Buffer', data: [97] }],
  ['C18: NUL in a text', { s: 'a\0b' }, { s: 'a\0b' }],
  ['C18: NUL in a key', { 'a\0b': '\0' }, { 'a\0b': '\0' }],
  ['C18: half of a surrogate pair in a text', ['\ud800', 'a\udfffb'], ['\ud800', 'a\udfffb']],
  ['C18: half of a surrogate pair in a key', { '\udc00': 1 }, { '\udc00': 1 }],
  ['text beyond the basic plane', '\u{1F600}e\u0301\u2028', '\u{1F600}e\u0301\u2028'],
  ['a __proto__ key', parsed('{"__proto__":{"a":1},"b":2}'), parsed('{"__proto__":{"a":1},"b":2}')],
]

describe('what a function returns', () => {
  for (const [what, returned, given] of values) {
    it(`${what}: given to the first caller in its stored form, and replayed equal`, async () => {
      deepStrictEqual(await call(what, returned), { ok: true, kind: 'executed', value: given })
      deepStrictEqual(await call(what, 'never'), { ok: true, kind: 'replayed', value: given })
      deepStrictEqual(await call(what, 'never'), { ok: true, kind: 'replayed', value: given })
    })
  }

  it('keeps a __proto__ key as a property of its own, which is no prototype', async () => {
    for (const returned of [parsed('{"__proto__":{"admin":true}}'), 'never']) {
      const result = await call('proto', returned)
      const value = (result.ok ? result.value : undefined) as { admin?: boolean }
      deepStrictEqual(Object.keys(value), ['__proto__'])
      strictEqual(value.admin, undefined)
    }
  })

  it('B7: toJSON is told its key as a text, as by JSON.stringify', async () => {
    const named = { toJSON: (key: unknown) => [typeof key, key] }
    const returned = () => ({ d: named, list: [0, named], 'a b': { 7: named } })
    const written = parsed(JSON.stringify(returned()))
    deepStrictEqual(written, {
      d: ['string', 'd'],
      list: [0, ['string', '1']],
      'a b': { 7: ['string', '7'] },
    })
    deepStrictEqual(await call('named', returned()), { ok: true, kind: 'executed', value: written })
    const alone = await call('alone', named)
    deepStrictEqual(alone, { ok: true, kind: 'executed', value: ['string', ''] })
  })

  it("is taken when the function settles, and does not follow the function's object", async () => {
    const returned = { list: [1] }
    const first = await call('later', returned)
    returned.list.push(2)
    deepStrictEqual(first, { ok: true, kind: 'executed', value: { list: [1] } })
    const again = await call('later', 'never')
    deepStrictEqual(again, { ok: true, kind: 'replayed', value: { list: [1] } })
  })

  it('is waited for when it is promised', async () => {
    const value = '1970-01-01T00:00:00.000Z'
    const result = await call('promised', Promise.resolve(new Date(0)))
    deepStrictEqual(result, { ok: true, kind: 'executed', value })
  })

  it('may be a refusal, of which all the same is true', async () => {
    const refuse = () =>
      idempotency.withIdempotency(scope, 'refused', one, (_, context) =>
        context.reject({ until: new Date(0), reasons: ['a\0b', -0], more: undefined }),
      )
    const refusal = { until: '1970-01-01T00:00:00.000Z', reasons: ['a\0b', 0] }
    deepStrictEqual(await refuse(), { ok: false, kind: 'rejected', refusal, replayed: false })
    deepStrictEqual(await refuse(), { ok: false, kind: 'rejected', refusal, replayed: true })
  })

  it('C20: is stored to the byte as JSON.stringify writes it', async () => {
    const texts = [
      '{"b":1,"a":1,"aa":100}',
      '{"z":{"y":[1,0.1,1e-7,1e+21,1.7976931348623157e+308]},"a":"a","__proto__":null}',
      '"\\u0000\\ud800\\"\\\\/\u007f\u2028\u{1F600}e\u0301"',
      '[[],{},"",null,true,false,-1]',
      'null',
    ]
    for (const text of texts) {
      const returned = parsed(text)
      strictEqual(JSON.stringify(returned), text)
      for (const kind of ['executed', 'replayed']) {
        const result = await call(text.length.toString(), returned)
        strictEqual(result.kind, kind)
        strictEqual(JSON.stringify(result.ok && result.value), text)
        strictEqual(await storedUnder(text.length.toString()), text)
      }
    }
  })

  it('may be of several MiB, where maxResponseBytes says so', async () => {
    const returned = { text: '\u{1F600}\0'.repeat(2 ** 17), bytes: 'x'.repeat(2 ** 20) }
    for (const kind of ['executed', 'replayed']) {
      const result = await call('large', returned)
      strictEqual(result.kind, kind)
      const value = (result.ok ? result.value : {}) as typeof returned
      // Not deepStrictEqual, whose message would be of 1 MiB too.
      strictEqual(value.text === returned.text && value.bytes === returned.bytes, true)
    }
  })
})
