import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from 'fast-check'

import { isKept, readJson } from '../../src/http/json-content.ts'
import { keyIn } from '../../src/http/key-header.ts'

const bytes = (text: string) => Buffer.from(text)

describe('a number in JSON', () => {
  it('is kept where JavaScript has the digits that were written', () => {
    const kept = [
      '0',
      '-0',
      '1',
      '19.99',
      '1.50',
      '0.10',
      '1e2',
      '1E+2',
      '1.5e-7',
      '100',
      '9007199254740991',
    ]
    for (const literal of kept) strictEqual(isKept(literal), true, literal)
    const changed = ['9007199254740992', '9007199254740993', '1e400', '-1e400', '1e-400', '1e16']
    changed.push('0.1234567890123456789', '3.141592653589793238')
    for (const literal of changed) strictEqual(isKept(literal), false, literal)
  })

  it('that JavaScript has written is kept, unless it is an integer beyond what is safe', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const isUnsafe = Number.isInteger(number) && !Number.isSafeInteger(number)
        strictEqual(isKept(JSON.stringify(number)), !isUnsafe)
      }),
    )
  })
})

describe('JSON', () => {
  it('is read in one pass, whatever a caller has made of it', () => {
    const zeros = `0.1${'0'.repeat(500_000)}1`
    throws(() => readJson(bytes(zeros)), { code: 'content_ambiguous' })
    deepStrictEqual(readJson(bytes(`[${'0,'.repeat(200_000)}0]`)), new Array(200_001).fill(0))
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    strictEqual(Array.isArray(readJson(bytes(deep))), true)
  })

  it('that is kept is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        let read: unknown
        try {
          read = readJson(bytes(text))
        } catch (error) {
          strictEqual((error as { code?: string }).code, 'content_ambiguous')
          return
        }
        deepStrictEqual(read, JSON.parse(text))
      }),
    )
  })

  it('with a name twice is refused, however the name is written, and whatever its values are', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '[{"b":{"":0,"":0}}]',
      '{"__proto__":1,"__proto__":1}',
    ]) {
      throws(() => readJson(bytes(text)), { code: 'content_ambiguous' }, text)
    }
    for (const text of ['{"a":{"a":1}}', '[{"a":1},{"a":1}]']) {
      deepStrictEqual(readJson(bytes(text)), JSON.parse(text))
    }
  })
})

describe('the header of a key', () => {
  it('is a quoted string, whose escapes are read', () => {
    strictEqual(keyIn(['"a\\"b\\\\c"'], true), 'a"b\\c')
    strictEqual(keyIn(['  "a b"  '], true), 'a b')
    strictEqual(keyIn([], true), undefined)
  })

  it('or a bare token, where that is allowed', () => {
    for (const token of [
      'abc',
      'a:b/c',
      '*a',
      '1a',
      '8e03978e-40d5-43dd-bc93-6894a57f9324',
      '01J9ZQ',
    ]) {
      strictEqual(keyIn([token], false), token)
      throws(() => keyIn([token], true), { code: 'key_malformed' }, token)
    }
  })

  it('but not a number, however many digits it has', () => {
    for (const number of [
      '1',
      '1.5',
      '9'.repeat(15),
      '9'.repeat(16),
      '1.2345',
      `${'9'.repeat(20)}.5`,
    ]) {
      throws(() => keyIn([number], false), { code: 'key_malformed' }, number)
      strictEqual(keyIn([`"${number}"`], false), number)
    }
  })

  it('whose parameters mean nothing, and have to be some', () => {
    for (const line of ['abc;a=1', 'abc ;a', '8e03978e-40d5;x;y="z"', '"abc";a=1']) {
      strictEqual(typeof keyIn([line], false), 'string', line)
    }
    for (const line of [
      'abc;a=1, def',
      'abc;"',
      'abc;=;;',
      '8e03978e-40d5;x, 8e03978e-40d6',
      'a,b',
    ]) {
      throws(() => keyIn([line], false), { code: 'key_malformed' }, line)
    }
  })
})

describe('a text of JSON, however long', () => {
  it('is read to the quote that ends it', () => {
    const long = 'x'.repeat(12_000_000)
    strictEqual(readJson(bytes(JSON.stringify(long))), long)
    const escapes = '\\"'.repeat(2_000_000)
    deepStrictEqual(readJson(bytes(JSON.stringify({ [escapes]: 1, b: escapes }))), {
      [escapes]: 1,
      b: escapes,
    })
    throws(() => readJson(bytes('{"\\\\":1,"\\\\":2}')), { code: 'content_ambiguous' })
    deepStrictEqual(readJson(bytes('{"\\\\":1,"\\"":2}')), { '\\': 1, '"': 2 })
  })
})
