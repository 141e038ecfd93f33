import { inspect, isDeepStrictEqual } from 'node:util'

import type { Reading } from './reading.ts'
import { lastWordOf, type ToldCall } from './retry-until-final.ts'

/**
 * What is wrong with what callers were told:
 * - `lost`: the effect is not there although somebody was told so, or nobody had a last word.
 * - `duplicated`: it is there more often than once.
 * - `misreported`: two answers differ, two calls were told that they took effect, or the one that took
 *   effect was told that it had failed.
 * - `stuck`: a call did not end, or the pool did not serve the next one.
 */
export type Wrong = 'lost' | 'duplicated' | 'misreported' | 'stuck'

/** Something that is wrong, and why, in a sentence. */
export interface Finding {
  /** Which of the promises is broken. */
  readonly wrong: Wrong
  /** By what. */
  readonly why: string
}

interface Effects {
  readonly before: number
  readonly found: number
  readonly expected: number
}

/**
 * Compares what the callers of one intent were told with what is there.
 *
 * @param effects - how often the business had taken effect before, has now, and should have.
 */
export function judge<Result>(
  calls: readonly ToldCall<Result>[],
  read: (result: Result) => Reading,
  { before, found, expected }: Effects,
): Finding[] {
  const findings: Finding[] = []
  const add = (wrong: Wrong, why: string) => findings.push({ wrong, why })
  const lastWords = calls.flatMap((call) => lastWordOf(call, read) ?? [])

  if (lastWords.length === 0) add('lost', 'no call had a last word')
  if (found < expected) add('lost', `${found} effects are there, and not ${expected}`)
  if (found > expected) add('duplicated', `${found} effects are there, and not ${expected}`)

  const executed = lastWords.filter(({ says }) => says === 'executed')
  if (executed.length > 1) add('misreported', `${executed.length} calls were told they took effect`)
  const [first, ...later] = lastWords
  for (const { answer } of later) {
    if (!isDeepStrictEqual(answer, first?.answer)) {
      add('misreported', `${show(first?.answer)} was answered, and then ${show(answer)}`)
    }
  }
  if (calls.some(({ told }) => !told)) add('stuck', 'a call did not end')
  const last = calls.at(-1)
  if (last && !lastWordOf(last, read)) add('stuck', 'the last call had no last word')
  const owned = calls.some(({ told }) => {
    if (!told) return true
    return 'result' in told && ['executed', 'unknown'].includes(read(told.result).says)
  })
  if (found > before && !owned)
    add('misreported', 'the call that took effect was told that it had failed')
  return findings
}

function show(answer: unknown): string {
  return inspect(answer, { breakLength: Infinity })
}
