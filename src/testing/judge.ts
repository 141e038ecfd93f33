import { inspect, isDeepStrictEqual } from 'node:util'

import { lastWordOf, type ToldCall } from './calls.ts'
import type { Reading } from './reading.ts'

/**
 * What is wrong with what callers were told:
 * - `lost`: the effect is there less often than it should, or was not there when a caller was told so, or
 *   nobody had a last word.
 * - `duplicated`: it is there more often than it should.
 * - `misreported`: two answers differ, two calls were told that they were the first, or the one that was the first was
 *   told that it had failed.
 * - `stuck`: a call did not end, or the pool did not serve the next one, or could not be closed.
 */
export type Wrong = 'lost' | 'duplicated' | 'misreported' | 'stuck'

/** Something that is wrong, and why, in a sentence. */
export interface Finding {
  /** Which of the promises is broken. */
  readonly wrong: Wrong
  /** By what. */
  readonly why: string
}

interface Expected {
  /** How often the business takes effect. */
  readonly effects: number
  /** Whether some call has to be told that it was the first. */
  readonly first: boolean
}

/**
 * Compares what the callers of one intent were told with what is there. A call of unknown fate may
 * have been the first one; whether it was, only what it wrote could tell.
 *
 * @param found - how often the business had taken effect when a call had a last word.
 */
export function judge<Result>(
  calls: readonly ToldCall<Result>[],
  read: (result: Result) => Reading,
  found: number,
  expected: Expected,
): Finding[] {
  const findings: Finding[] = []
  const add = (wrong: Wrong, why: string) => findings.push({ wrong, why })
  const lastWords = calls.flatMap((call) => lastWordOf(call, read) ?? [])

  if (lastWords.length === 0) add('lost', 'no call had a last word')
  const counted = `${found} effects are there, and not ${expected.effects}`
  if (found < expected.effects) add('lost', counted)
  if (found > expected.effects) add('duplicated', counted)

  const [first, ...later] = lastWords
  for (const { answer } of later) {
    if (isDeepStrictEqual(answer, first?.answer)) continue
    add('misreported', `${show(first?.answer)} was answered, and then ${show(answer)}`)
  }
  const firsts = lastWords.filter(isFirst).length
  if (firsts > 1) add('misreported', `${firsts} calls were told that they were the first`)
  const mayBeFirst = calls.some(({ told }) => {
    if (!told) return true
    const reading = 'result' in told && read(told.result)
    return reading && (isFirst(reading) || reading.says === 'unknown')
  })
  if (expected.first && !mayBeFirst)
    add('misreported', 'the first call was told that it had failed')

  if (calls.some(({ told }) => !told)) add('stuck', 'a call did not end')
  const last = calls.at(-1)
  if (last && !lastWordOf(last, read)) add('stuck', 'the last call had no last word')
  return findings
}

export function isFirst({ says }: Reading): boolean {
  return says === 'executed' || says === 'rejected'
}

function show(answer: unknown): string {
  return inspect(answer, { breakLength: Infinity })
}
