import { strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { fingerprint } from 'oncely'

const take = (value: unknown) => fingerprint(value, { version: 1 })

function refused(value: unknown, path: string): void {
  throws(() => take(value), { name: 'OncelyError', code: 'not_json', path })
}

class Decimal {
  readonly units = 1
}

class Rows extends Array<number> {}

/** A class whose instances inherit from nothing else, like an object of another realm. */
function Money() {
  // Made by Reflect.construct.
}
Money.prototype = Object.create(null, { minor: { get: () => 1999 } }) as object

const instances: [name: string, value: unknown][] = [
  ['Date', new Date(0)],
  ['Map', new Map([['a', 1]])],
  ['Set', new Set([1])],
  ['RegExp', /a/],
  ['Uint8Array', new Uint8Array(2)],
  ['Buffer', Buffer.from('a')],
  ['ArrayBuffer', new ArrayBuffer(2)],
  ['Error', new Error('no')],
  ['Promise', Promise.resolve(1)],
  ['URL', new URL('http://localhost/')],
  ['Number', Object(1)],
  ['String', Object('a')],
  ['a class of the caller', new Decimal()],
  ['a subclass of Array', Rows.of(1)],
  ['a class that extends null', Reflect.construct(Money, [])],
  // eslint-disable-next-line no-sparse-arrays -- the hole is what is tested
  ['no class, but an array whose own property hides a hole', Object.assign([, 1], { x: 5 })],
]

const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((a) => [a], 1)

describe('what a fingerprint refuses, by code and path', () => {
  it('B1: half of a surrogate pair, in a value', () => {
    refused('\ud800', '$')
    refused({ k: '\ud800' }, '$.k')
    refused({ k: '\ud801' }, '$.k')
    refused({ list: ['fine', '\ude00\ud83d'] }, '$.list[1]')
  })

  it('B1: half of a surrogate pair, in a key', () => {
    refused({ '\udc00': 1 }, String.raw`$["\udc00"]`)
    refused({ a: [{ 'b\ud800': 1 }] }, String.raw`$.a[0]["b\ud800"]`)
  })

  it('B1: but not the replacement character, nor whole pairs', () => {
    const digests = ['\ufffd', '?', '\u{1F600}', '\u{1F601}'].map((text) => take(text).digest)
    strictEqual(new Set(digests).size, 4)
  })

  for (const [name, value] of instances) {
    it(`B4: an instance of ${name}, which does not collapse to {}`, () => {
      refused(value, '$')
      refused({ order: [{ when: value }] }, '$.order[0].when')
    })
  }

  it('B6: NaN and the infinities, which are not null', () => {
    refused({ amount: NaN }, '$.amount')
    refused({ amount: Infinity }, '$.amount')
    refused([[-Infinity]], '$[0][0]')
  })

  it('B7: toJSON, as the function that it is, without calling it', () => {
    const toJSON = () => {
      throw new Error('toJSON was called')
    }
    refused({ d: { toJSON } }, '$.d.toJSON')
    refused([1, { toJSON }], '$[1].toJSON')
    refused({ d: Object.assign([1], { toJSON }) }, '$.d')
    refused({ d: Object.assign(new Decimal(), { toJSON }) }, '$.d')
  })

  it('B8: undefined in an array, or alone', () => {
    refused(undefined, '$')
    refused([undefined], '$[0]')
    refused({ a: [1, undefined] }, '$.a[1]')
  })

  it('B8: functions and symbols, which JSON.stringify would drop', () => {
    refused(() => ({}), '$')
    refused({ f: () => ({}) }, '$.f')
    refused({ s: Symbol('s') }, '$.s')
    refused({ a: { [Symbol('s')]: 1 } }, '$.a')
  })

  it('B8: arrays with holes, and with properties beside their items', () => {
    // eslint-disable-next-line no-sparse-arrays -- the hole is what is tested
    refused({ a: [1, , 3] }, '$.a')
    refused({ a: [[], 'x'.match('x')] }, '$.a[1]')
  })

  it('B11: integers beyond what a double tells apart, either way', () => {
    for (const beyond of [2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e21, -Number.MAX_VALUE]) {
      refused({ id: beyond }, '$.id')
    }
    refused(JSON.parse('{"id":9007199254740993}'), '$.id')
    refused({ id: 9007199254740993n }, '$.id')
  })

  it('B11: but not the integers that are told apart', () => {
    const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number
    const digests = [max, max - 1, min, min + 1].map((integer) => take(integer).digest)
    strictEqual(new Set(digests).size, 4)
  })

  it('B12: 1e21, an integer of which only the beginning would count', () => {
    refused([1e21], '$[0]')
  })

  it('cycles, where they close', () => {
    const cycle: Record<string, unknown> = { name: 'a' }
    cycle['children'] = [{ parent: cycle }]
    refused(cycle, '$.children[0].parent')
    const list: unknown[] = [1]
    list.push(list)
    refused(list, '$[1]')
  })

  it('more than 500 levels, instead of ending the stack', () => {
    strictEqual(take(nested(500)).digest.length, 64)
    refused(nested(501), `$${'[0]'.repeat(500)}`)
    refused(nested(100_000), `$${'[0]'.repeat(500)}`)
  })

  it('whatever names the place has', () => {
    refused({ items: [{ price: 1 }, { price: 2 }, { price: NaN }] }, '$.items[2].price')
    refused({ 'ship to': { 'a"b': [1n] } }, String.raw`$["ship to"]["a\"b"][0]`)
    refused(JSON.parse('{"__proto__":{"a":1e999}}'), '$.__proto__.a')
    refused({ '': 1n, '0': 1 }, '$[""]')
  })
})
