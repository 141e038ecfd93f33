// Every case that others got wrong has an id. The title of the test that tries it begins with it.
import { deepStrictEqual } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const TRIED = 'tried'

const tried = (section: string, numbers: readonly number[]) =>
  Object.fromEntries(numbers.map((number) => [`${section}${number}`, TRIED]))

/**
 * A: idempotency layers. C: PostgreSQL and poolers. D: pg, Kysely and tooling. Or why there is no test.
 * Numbers that are missing belong to no case.
 */
const cases: Readonly<Record<string, string>> = {
  ...tried('A', [1, 3, 5, 7, 8, 9, 11, 12, 13, 15, 16]),
  // Of A18 and A22, what is behind a request: an operation of its own, and a caller who is gone.
  ...tried('A', [18, 19, 20, 22, 23, 25, 26, 27, 28, 30, 31, 32, 33, 34, 35, 37]),
  // Of C16, a COMMIT that waits for its standby: what a failover loses, no test here can bring back.
  ...tried('C', [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 16, 18, 19, 20, 22, 24, 26, 27]),
  ...tried('D', [1, 2, 3, 4, 5, 7, 11, 12, 13, 14, 16, 17, 18]),
}

/** A title that begins with ids, in a call or in a table whose rows have a test each. */
const TITLE = /['"`]((?:[A-Z]\d+, )*[A-Z]\d+): /g
/** One that has an id behind, where it is not looked for. */
const BEHIND = /\b(?:it|test|describe)\((['"`]).*\([A-F]\d+\b.*/g

const sources = globSync('**/*.ts', { cwd: join(import.meta.dirname, '..') }).map((file) =>
  readFileSync(join(import.meta.dirname, '..', file), 'utf8'),
)

function idsInTitles(): Set<string> {
  const lists = sources.flatMap((source) => [...source.matchAll(TITLE)])
  return new Set(lists.flatMap(([, ids = '']) => ids.split(', ')))
}

describe('the ids of the cases', () => {
  const found = idsInTitles()
  const listed = Object.entries(cases)

  it('are in front of a title, each that is tried', () => {
    const missing = listed.filter(([id, why]) => why === TRIED && !found.has(id))
    deepStrictEqual(missing, [])
  })

  it('are in no title where it is said why there is no test', () => {
    const there = listed.filter(([id, why]) => why !== TRIED && found.has(id))
    deepStrictEqual(there, [])
  })

  it('are known, each of these sections that is in a title', () => {
    const unknown = [...found].filter((id) => /^[ACD]/.test(id) && !(id in cases))
    deepStrictEqual(unknown, [])
  })

  it('are in no title but in front', () => {
    const behind = sources.flatMap((source) => source.match(BEHIND) ?? [])
    deepStrictEqual(behind, [])
  })
})
