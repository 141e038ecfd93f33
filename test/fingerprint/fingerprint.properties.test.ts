import { notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'
import { fingerprint, isOncelyError } from 'oncely'

import {
  changesOf,
  isArray,
  isObject,
  json,
  type Json,
  nodeAt,
  similarJson,
  withAtEachPlace,
} from './json-values.ts'

const digest = (value: unknown) => fingerprint(value, { version: 1 }).digest

class Money {
  readonly minor = 1
}

const poisons: Record<string, () => unknown> = {
  NaN: () => NaN,
  Infinity: () => Infinity,
  'minus Infinity': () => -Infinity,
  'undefined in an array': () => undefined,
  'a bigint': () => 1n,
  'an integer too large': () => 2 ** 53,
  'an integer too small': () => -(2 ** 60),
  'a Map': () => new Map(),
  'a Set': () => new Set([1]),
  'a Date': () => new Date(0),
  'an instance of a class': () => new Money(),
  'a function': () => () => 1,
  'a symbol': () => Symbol('poison'),
  'the first half of a surrogate pair': () => 'a\ud800b',
  'the second half of a surrogate pair': () => '\udfff',
}

describe('for any JSON value', () => {
  it('a digest is taken without an error, twice the same, and the value is left alone', () => {
    fc.assert(
      fc.property(json, (value) => {
        const copy = structuredClone(value)
        strictEqual(digest(value), digest(copy))
        ok(isDeepStrictEqual(value, copy), 'the value was changed')
      }),
      { numRuns: 500 },
    )
  })

  it('the order of properties does not matter, at any depth', () => {
    fc.assert(
      fc.property(json, fc.compareFunc(), (value, compare) => {
        const reordered = (node: Json): Json => {
          if (isArray(node)) return node.map(reordered)
          if (!isObject(node)) return node
          const properties = Object.entries(node).sort(([a], [b]) => compare(a, b))
          return Object.fromEntries(properties.map(([name, inner]) => [name, reordered(inner)]))
        }
        strictEqual(digest(reordered(value)), digest(value))
      }),
      { numRuns: 500 },
    )
  })

  it('any single change of any single node is another digest', () => {
    fc.assert(
      fc.property(json, (value) => {
        const before = digest(value)
        for (const changed of changesOf(value)) {
          notStrictEqual(digest(changed), before, JSON.stringify(changed))
        }
      }),
    )
  })

  it('-0 is 0 wherever it stands', () => {
    fc.assert(
      fc.property(similarJson, (value) => {
        const negated = JSON.parse(JSON.stringify(value), (_, node: unknown) =>
          node === 0 ? -0 : node,
        ) as Json
        strictEqual(digest(negated), digest(value))
      }),
    )
  })

  it('two values have one digest if and only if they are the same JSON', () => {
    const normal = (value: Json) => JSON.parse(JSON.stringify(value)) as unknown
    fc.assert(
      fc.property(similarJson, similarJson, (one, other) => {
        const equal = isDeepStrictEqual(normal(one), normal(other))
        strictEqual(digest(one) === digest(other), equal)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('one poisonous node at any place is refused by its path', () => {
  /** What the path of the refusal points at. */
  const refusedIn = (root: unknown): unknown => {
    try {
      digest(root)
    } catch (error) {
      ok(isOncelyError(error), String(error))
      strictEqual(error.code, 'not_json')
      return nodeAt(root, error.path ?? 'no path')
    }
    throw new Error('it was accepted')
  }

  for (const [name, poison] of Object.entries(poisons)) {
    it(name, () => {
      fc.assert(
        fc.property(json, (value) => {
          const leaf = poison()
          for (const root of withAtEachPlace(value, leaf)) ok(Object.is(refusedIn(root), leaf))
        }),
      )
    })
  }

  it('a reference back to the root', () => {
    fc.assert(
      fc.property(json, (value) => {
        const leaf: { back?: unknown } = {}
        for (const root of withAtEachPlace(value, leaf)) {
          leaf.back = root
          strictEqual(refusedIn(root), root)
        }
      }),
    )
  })

  it('a property whose name has half of a surrogate pair', () => {
    fc.assert(
      fc.property(json, (value) => {
        const property = 'the property'
        for (const root of withAtEachPlace(value, { '\ud800': property })) {
          strictEqual(refusedIn(root), property)
        }
      }),
    )
  })
})
