import { deepStrictEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const numbers = (marks: Iterable<RegExpMatchArray>) => [...marks].map(([, n]) => Number(n))
const ascending = (of: readonly number[]) => of.toSorted((a, b) => a - b)

/** A page as it is. */
export function pageOf(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')
}

/**
 * Holds a page against the tests of this folder that are named by its sentences: number, space, the words
 * before the mark.
 *
 * @param files - which of the tests are of this page.
 * @param from - the words that come before its first counted sentence.
 */
export function describeSentences(
  name: string,
  { files, from }: { files: (file: string) => boolean; from: string },
): void {
  /** As one line, however it is wrapped. */
  const page = pageOf(name).replace(/\s+/g, ' ')
  const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
    .filter(files)
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/^ +it\((['"])\[(\d+)\] (.+)\1, async \(/gm)])
    .map(([, , number, words]) => ({ number: Number(number), words: String(words) }))

  describe(`docs/${name}`, () => {
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
      const counted = numbers(page.slice(page.indexOf(from)).matchAll(/\[(\d+)\]/g))
      deepStrictEqual(
        counted,
        counted.map((_, index) => index + 1),
      )
    })
  })
}
