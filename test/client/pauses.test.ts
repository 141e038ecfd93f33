import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'

import { pauseMsOf } from '../../src/client/pauses.ts'

/** The longest of all, where chance is what it is given as, from 0 to 1. */
function pausesBy(t: TestContext, chance: number) {
  t.mock.method(Math, 'random', () => chance)
  return (attempts: number, more: Partial<Parameters<typeof pauseMsOf>[0]> = {}) =>
    pauseMsOf({
      ...{
        attempts,
        isUnderWay: false,
        askedMs: undefined,
        initialDelayMs: 250,
        maxDelayMs: 10_000,
      },
      ...more,
    })
}

describe('a pause', () => {
  it('doubles with each attempt, up to the longest, and is a random part of that', (t) => {
    const longest = pausesBy(t, 1)
    deepStrictEqual(
      [1, 2, 3, 7].map((attempts) => longest(attempts)),
      [250, 500, 1_000, 10_000],
    )
    strictEqual(pausesBy(t, 0.5)(2), 250)
  })

  it('does so behind a 409 under way, and is never nothing', (t) => {
    const isUnderWay = true
    const longest = pausesBy(t, 1)
    const eager = { isUnderWay, initialDelayMs: 0 }
    deepStrictEqual(
      [1, 2, 3, 99].map((attempts) => longest(attempts, eager)),
      [10, 20, 40, 10_000],
    )
    strictEqual(longest(3, { isUnderWay }), 1_000)
    const shortest = pausesBy(t, 0)
    strictEqual(shortest(9, eager), 10)
    strictEqual(shortest(9, { ...eager, maxDelayMs: 0 }), 10)
    strictEqual(shortest(9, { initialDelayMs: 0 }), 0)
    strictEqual(longest(9_999, { initialDelayMs: 0 }), 0)
  })

  it('is as long as Retry-After says, and up to a quarter of that, or a second, longer', (t) => {
    const longest = pausesBy(t, 1)
    const quick = { initialDelayMs: 0, maxDelayMs: 0 }
    strictEqual(longest(1, { ...quick, askedMs: 2_000 }), 2_500)
    strictEqual(longest(1, { ...quick, askedMs: 60_000 }), 61_000)
    strictEqual(longest(1, { ...quick, askedMs: 0 }), 0)
    strictEqual(pausesBy(t, 0)(1, { ...quick, askedMs: 2_000 }), 2_000)
  })
})
