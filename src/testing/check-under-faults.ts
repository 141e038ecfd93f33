import { randomUUID } from 'node:crypto'

import { checkMs, checkNames, checkWhole, invalid } from '../checks.ts'
import type { ToldCall } from './calls.ts'
import { checkFaultKind, type Fault, type FaultKind, wireFaults } from './fault-proxy.ts'
import { type Finding, judge } from './judge.ts'
import { readByKind } from './reading.ts'
import {
  checkRetryOptions,
  MAX_TIMER_MS,
  retryOptions,
  type RetryOptions,
} from './retry-until-final.ts'
import type { Subject } from './subject.ts'
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

/** A fault that something came of which should not have. */
export interface Problem<Result = unknown> extends Finding {
  /** What struck. */
  readonly fault: Fault
  /** Under which the calls were made. */
  readonly key: string
  /** In their order, with what each was told. */
  readonly calls: readonly ToldCall<Result>[]
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
}

/**
 * Proves a write that is to take effect once: makes it through a proxy, and at each single message of
 * PostgreSQL's protocol, in both directions, before and after it, lets a fault strike. Then a caller
 * retries with the same key until it has a last word, on the same pool, and what it was told is
 * compared with what is there.
 *
 * @throws OncelyError `invalid_options`, also where nothing comes through the proxy, or no fault strikes;
 * `not_final` when the call has no last word although nothing strikes.
 * @throws whatever `prepare`, `open`, `effects` and `check` throw, and `call` where nothing strikes.
 *
 * @example
 * ```ts
 * const { problems } = await checkUnderFaults({ url, open, effects })
 * deepStrictEqual(problems, [])
 * ```
 */
export async function checkUnderFaults<Result>(
  subject: Subject<Result>,
  options: CheckOptions<Result> = {},
): Promise<CheckReport<Result>> {
  const { kinds, concurrency } = checkOptions(options)
  const clean = await undisturbed(subject, options.read ?? readByKind)
  const todo = clean.places.flatMap((place) => kinds.map((kind) => ({ ...place, kind })))
  const report = { faults: [] as Fault[], missed: [] as Fault[], problems: [] as Problem<Result>[] }
  const worker = async () => {
    for (let fault = todo.shift(); fault; fault = todo.shift()) {
      try {
        const found = await problemsOf(subject, fault, clean, options)
        report[found ? 'faults' : 'missed'].push(fault)
        report.problems.push(...(found ?? []))
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
  return report
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
  return { kinds: [...new Set(kinds)], concurrency }
}

/** @returns what is wrong behind the fault; undefined when it did not strike. */
async function problemsOf<Result>(
  subject: Subject<Result>,
  fault: Fault,
  { first }: Undisturbed,
  options: CheckOptions<Result>,
): Promise<Problem<Result>[] | undefined> {
  const { read = readByKind, expected: effects = 1, endMs } = options
  const key = randomUUID()
  await subject.prepare?.(key)
  const { struck, calls, found, unclosed } = await underFault(subject, fault, key, options, endMs)
  if (!struck) return undefined
  const findings = judge(calls, read, found, { effects, first })
  if ((await subject.effects(key)) !== found) {
    findings.push({ wrong: 'duplicated', why: 'behind the last word it took effect again' })
  }
  if (unclosed) findings.push({ wrong: 'stuck', why: `the pool could not be closed: ${unclosed}` })
  findings.push(...((await subject.check?.(key, calls)) ?? []))
  return findings.map((finding) => ({ ...finding, fault, key, calls }))
}
