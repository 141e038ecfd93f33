import { randomUUID } from 'node:crypto'

import { checkMs, checkNames, checkWhole, invalid } from '../checks.ts'
import { checkFaultKind, type Fault, type FaultKind, wireFaults } from './fault.ts'
import { judge } from './judge.ts'
import { readByKind } from './reading.ts'
import {
  checkRetryOptions,
  MAX_TIMER_MS,
  retryOptions,
  type RetryOptions,
} from './retry-until-final.ts'
import { countEffects, type Subject } from './subject.ts'
import { countsOf, describeProblems, type Problem } from './summary.ts'
import { END_MS, underFault } from './under-fault.ts'
import { type Undisturbed, undisturbed } from './undisturbed.ts'

/** Options of `checkUnderFaults`, beside those of `retryUntilFinal`. */
export interface CheckOptions<Result = unknown> extends Omit<RetryOptions<Result>, 'onRetry'> {
  /**
   * Which faults.
   *
   * @defaultValue what the proxy can do by itself: `cut`, `half-open`, `stalled`, `cancelled`
   */
  readonly kinds?: readonly FaultKind[]
  /**
   * How often the business takes effect in the end.
   *
   * @defaultValue 1; 0 of a call that is refused.
   */
  readonly expected?: number
  /**
   * How many faults are tried at once.
   *
   * @defaultValue 8
   */
  readonly concurrency?: number
  /**
   * How long a call or the pool may take to end once a call had a last word, in milliseconds. What takes
   * longer is `stuck`.
   *
   * @defaultValue 30,000
   */
  readonly endMs?: number
}

/** What all the faults came to. */
export interface CheckReport<Result = unknown> {
  /** Those that struck. */
  readonly faults: readonly Fault[]
  /**
   * Those that did not, since there was nothing to strike at: no backend to cancel while it is still to say who it
   * is, or a last word before the message came.
   */
  readonly missed: readonly Fault[]
  /** Nothing, if the promise holds. */
  readonly problems: readonly Problem<Result>[]
  /** For people: how many faults struck, and of each reason for a problem the first. */
  readonly summary: string
}

/**
 * Proves a write that is to take effect once: makes it through a proxy, and at each single message of
 * PostgreSQL's protocol, in both directions, before and after it, lets a fault strike. Then a caller
 * retries with the same key until it has a last word, on the same pool, and what it was told is
 * compared with what is there. It tries one intent: not another fingerprint under the key, and not two callers
 * at once, but for those that a stalled call makes of one.
 *
 * Half-open links and stalled ones wait for the time-outs of what is proved: give it short ones, such as
 * `idleInTransactionTimeoutMs` and `resolveTimeoutMs` below a second, or it takes minutes.
 *
 * @throws OncelyError `invalid_options`, also where nothing comes through the proxy, or no fault strikes;
 * `not_final` when the call has no last word although nothing strikes.
 * @throws whatever `prepare`, `open`, `effects` and `check` throw, and `call` where nothing strikes.
 *
 * @example
 * ```ts
 * const { problems, summary } = await checkUnderFaults({ url, open, effects })
 * strictEqual(problems.length, 0, summary)
 * ```
 */
export async function checkUnderFaults<Result>(
  subject: Subject<Result>,
  options: CheckOptions<Result> = {},
): Promise<CheckReport<Result>> {
  const { kinds, concurrency, expected } = checkOptions(options)
  const clean = await undisturbed(subject, options.read ?? readByKind, expected)
  const todo = clean.places.flatMap(({ at, ...place }) =>
    kinds.map((kind) => ({ at, fault: { ...place, kind } })),
  )
  const report = { faults: [] as Fault[], missed: [] as Fault[], problems: [] as Problem<Result>[] }
  const worker = async () => {
    for (let next = todo.shift(); next; next = todo.shift()) {
      const { at, fault } = next
      try {
        const found = await problemsOf(subject, fault, clean, options)
        report[found ? 'faults' : 'missed'].push(fault)
        report.problems.push(...(found ?? []).map((problem) => ({ ...problem, at })))
      } catch (error) {
        // Nobody goes on behind an error of the subject's.
        todo.length = 0
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  if (report.faults.length === 0) throw invalid('none of the faults has struck')
  const { faults, problems } = report
  const summary = [countsOf(faults.length, problems), describeProblems(problems)].join('\n').trim()
  return { ...report, summary }
}

function checkOptions<Result>(options: CheckOptions<Result>) {
  checkNames(options, [...retryOptions, 'kinds', 'expected', 'concurrency', 'endMs'])
  checkRetryOptions(options)
  const { kinds = wireFaults, concurrency = 8, expected = 1, endMs = END_MS } = options
  checkWhole('expected', expected, 0, Number.MAX_SAFE_INTEGER)
  checkWhole('concurrency', concurrency, 1, 1_000)
  checkMs('endMs', endMs, MAX_TIMER_MS)
  const given: unknown = kinds
  if (!Array.isArray(given) || given.length === 0) throw invalid('kinds must name some faults')
  kinds.forEach(checkFaultKind)
  return { kinds: [...new Set(kinds)], concurrency, expected }
}

/** @returns what is wrong behind the fault; undefined when it did not strike. */
async function problemsOf<Result>(
  subject: Subject<Result>,
  fault: Fault,
  { first }: Undisturbed,
  options: CheckOptions<Result>,
): Promise<Omit<Problem<Result>, 'at'>[] | undefined> {
  const { read = readByKind, expected: effects = 1, endMs } = options
  const key = randomUUID()
  await subject.prepare?.(key)
  const { struck, calls, found, unclosed } = await underFault(subject, fault, key, options, endMs)
  if (!struck) return undefined
  const findings = judge(calls, read, found, { effects, first })
  if ((await countEffects(subject, key)) !== found) {
    findings.push({ wrong: 'duplicated', why: 'behind the last word it took effect again' })
  }
  if (unclosed) findings.push({ wrong: 'stuck', why: `the pool could not be closed: ${unclosed}` })
  findings.push(...((await subject.check?.(key, calls)) ?? []))
  return findings.map((finding) => ({ ...finding, fault, key, calls }))
}
