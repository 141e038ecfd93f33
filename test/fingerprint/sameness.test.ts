import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'

import { fingerprint } from 'oncely'

const digest = (value: unknown) => fingerprint(value, { version: 1 }).digest

function same(one: unknown, other: unknown): void {
  strictEqual(digest(one), digest(other))
}

function different(...values: readonly unknown[]): void {
  strictEqual(new Set(values.map(digest)).size, values.length)
}

/** SHA-256 of the canonical text behind it, as another program computed it. */
const digestOf = {
  '{"\u{1F600}":1,"\ufb33":2}': '2aa3f5086e32bb90ce39c508a6f40fd72e792684f130d0f3b896ea191368f1e3',
  '{"B":2,"a":1,"\u00e4":3}': 'b2245992ed3b43b977d908e2850680b6ce82c5ea5497706b27370bcc75dc7312',
  '"\u00e9"': 'f2886017e9c7abacf804b54d64787dce2b611c9544ba21f3affdd126a6e50086',
  '"e\u0301"': '3d68ce21f2899a475713cdbe7562ba9bdb6b1dfde8af1f221bdff4a0935b53b2',
  '0.30000000000000004': '06bad31060c1212ae832de4c031f7b31e3b48aed57858294478cb19450cf34ca',
  '1e-7': '5b33e02f2c5103a05d32f6ba9cb058294452bfbf393967f68bb30c1bdcbbab22',
  '1': '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
  '"1"': '391552c099c101b131feaf24c5795a6a15bc8ec82015424e0d2b4274a369a0bf',
}

describe('which parameters a fingerprint takes for the same', () => {
  it('B2: keys are in the order of UTF-16 units, not of code points and of no locale', () => {
    const astral = digestOf['{"\u{1F600}":1,"\ufb33":2}']
    strictEqual(digest({ '\ufb33': 2, '\u{1F600}': 1 }), astral)
    strictEqual(digest({ '\u{1F600}': 1, '\ufb33': 2 }), astral)
    strictEqual(digest({ a: 1, '\u00e4': 3, B: 2 }), digestOf['{"B":2,"a":1,"\u00e4":3}'])
  })

  it('B4: plain objects without a prototype or of another realm are as good as others', () => {
    same(Object.assign(Object.create(null) as object, { a: [1] }), { a: [1] })
    // As parsers of forms make them.
    same(Object.assign(Object.create(Object.create(null) as object) as object, { a: [1] }), {
      a: [1],
    })
    same(runInNewContext('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] })
  })

  it('B6: null is not 0, not empty text and not an absent property', () => {
    different({ amount: null }, { amount: 0 }, { amount: '' }, {})
  })

  it('B7: a property by the name of toJSON that is no function is like any other', () => {
    different({ toJSON: 1 }, { toJSON: '1' }, { toJson: 1 }, 1, {})
  })

  it('B8: an undefined property is absent', () => {
    same({ a: 1, c: undefined, b: 2 }, { a: 1, b: 2 })
    same({ z: undefined }, {})
    different({ a: undefined }, { a: null })
  })

  it('B12: numbers have the text that ECMAScript gives them', () => {
    for (const one of JSON.parse('[1, 1.0, 1e0, 100e-2]') as unknown[]) {
      strictEqual(digest(one), digestOf['1'])
    }
    strictEqual(digest('1'), digestOf['"1"'])
    strictEqual(digest(0.1 + 0.2), digestOf['0.30000000000000004'])
    strictEqual(digest(0.0000001), digestOf['1e-7'])
    same({ a: [-0] }, { a: [0] })
    different(1, '1', true, [1], 1.5)
  })

  it('B13: no Unicode normalisation, neither of values nor of keys', () => {
    strictEqual(digest('\u00e9'), digestOf['"\u00e9"'])
    strictEqual(digest('e\u0301'), digestOf['"e\u0301"'])
    different({ '\u00e9': 1 }, { 'e\u0301': 1 })
    different({ '\u00e9': 1 }, { '\u00e9': 1, 'e\u0301': 1 })
  })

  it('B14: the order of items matters', () => {
    different([1, 2], [2, 1])
    different([{ from: 1, to: 2 }, {}], [{}, { from: 1, to: 2 }])
    same([{ from: 1, to: 2 }], [{ to: 2, from: 1 }])
  })

  it('B16: the order of properties does not matter at any depth', () => {
    same(
      { b: [{ y: { q: 1, p: 2 }, x: 1 }], a: { d: 1, c: [{ f: 1, e: 2 }] } },
      { a: { c: [{ e: 2, f: 1 }], d: 1 }, b: [{ x: 1, y: { p: 2, q: 1 } }] },
    )
    different({ a: { c: 1, d: 2 } }, { a: { c: 2, d: 1 } })
  })

  it('a value that appears twice is what it would be written out twice', () => {
    const address = { city: 'Bern' }
    same({ billTo: address, shipTo: address }, { billTo: { city: 'Bern' }, shipTo: { ...address } })
  })
})
