import { deepStrictEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

/** As one line, however it is wrapped. */
const page = readFileSync(join(import.meta.dirname, '../../docs/choosing.md'), 'utf8').replace(
  /\s+/g,
  ' ',
)
const numbers = (marks: Iterable<RegExpMatchArray>) => [...marks].map(([, n]) => Number(n))
const ascending = (of: readonly number[]) => of.toSorted((a, b) => a - b)

/** A test of this folder that is named by a sentence: number, space, the words before the mark. */
const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
  .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
  .flatMap((source) => [...source.matchAll(/^ +it\((['"])\[(\d+)\] (.+)\1, async \(/gm)])
  .map(([, , number, words]) => ({ number: Number(number), words: String(words) }))

describe('docs/choosing.md', () => {
  it('has a test for every number, and no test has a number that it lacks', () => {
    const named = [...new Set(numbers(page.matchAll(/\[(\d+)\]/g)))]
    ok(named.length >= 20)
    deepStrictEqual(ascending(tests.map(({ number }) => number)), ascending(named))
  })

  it('says in front of each number, to the letter, what its test is called', () => {
    deepStrictEqual(
      tests.filter(({ number, words }) => !page.includes(`${words} [${number}]`)),
      [],
    )
  })

  it('counts its sentences as they come', () => {
    const sentences = page.slice(page.indexOf('## Which when'))
    const counted = numbers(sentences.matchAll(/\[(\d+)\]/g))
    deepStrictEqual(
      counted,
      counted.map((_, index) => index + 1),
    )
  })
})
