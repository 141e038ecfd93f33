import { randomUUID } from 'node:crypto'

import { checkNames, checkWhole, invalid } from '../checks.ts'
import {
  checkFaultKind,
  type Fault,
  type FaultKind,
  startFaultProxy,
  wireFaults,
} from './fault-proxy.ts'
import { type Finding, judge } from './judge.ts'
import { readByKind } from './reading.ts'
import type { Subject } from './subject.ts'
import { underFault } from './under-fault.ts'
import {
  checkRetryOptions,
  retryOptions,
  type RetryOptions,
  type ToldCall,
  untilFinal,
} from './retry-until-final.ts'

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
  /** Nothing, if the promise holds. */
  readonly problems: readonly Problem<Result>[]
}

/**
 * Proves a write that is to take effect once: makes it through a proxy, and at each single message of
 * PostgreSQL's protocol, in both directions, before and after it, lets a fault strike. Then a caller
 * retries with the same key until it has a last word, on the same pool, and what it was told is
 * compared with what is there.
 *
 * @throws OncelyError `invalid_options`; `deadline_exceeded` when no call has a last word although
 * nothing strikes.
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
  checkNames(options, [...retryOptions, 'kinds', 'expected', 'concurrency'])
  checkRetryOptions(options)
  const { kinds = wireFaults, concurrency = 8, expected = 1 } = options
  checkWhole('expected', expected, 0, Number.MAX_SAFE_INTEGER)
  checkWhole('concurrency', concurrency, 1, Number.MAX_SAFE_INTEGER)
  kinds.forEach(checkFaultKind)
  const places = await placesOf(subject, options)
  const todo = places.flatMap((place) => kinds.map((kind) => ({ ...place, kind }))).values()
  const faults: Fault[] = []
  const problems: Problem<Result>[] = []
  const worker = async () => {
    for (const fault of todo) {
      const found = await problemsOf(subject, fault, options)
      if (!found) continue
      faults.push(fault)
      problems.push(...found)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { faults, problems }
}

/** Every message of a call at which nothing strikes, and both sides of it. */
async function placesOf<Result>(
  subject: Subject<Result>,
  options: CheckOptions<Result>,
): Promise<Omit<Fault, 'kind'>[]> {
  const key = randomUUID()
  await subject.prepare?.(key)
  const proxy = await startFaultProxy(subject.url)
  const opened = subject.open(proxy.url)
  try {
    await untilFinal(() => opened.call(key), options)
    if (proxy.messages.length === 0) {
      throw invalid('nothing has come through the proxy: open must connect to the url it is given')
    }
    const seen = { 'to server': 0, 'to client': 0 }
    return proxy.messages.flatMap(({ direction }) => {
      const message = (seen[direction] += 1)
      return (['before', 'after'] as const).map((side) => ({ direction, message, side }))
    })
  } finally {
    await opened.close()
    await proxy.close()
  }
}

/** @returns what is wrong behind the fault; undefined when it did not strike. */
async function problemsOf<Result>(
  subject: Subject<Result>,
  fault: Fault,
  options: CheckOptions<Result>,
): Promise<Problem<Result>[] | undefined> {
  const { read = readByKind, expected = 1 } = options
  const key = randomUUID()
  await subject.prepare?.(key)
  const before = await subject.effects(key)
  const { struck, calls, found, closed } = await underFault(subject, fault, key, options)
  if (!struck) return undefined
  const findings = judge(calls, read, { before, found, expected })
  if ((await subject.effects(key)) !== found) {
    findings.push({ wrong: 'duplicated', why: 'behind the last word it took effect again' })
  }
  if (!closed) findings.push({ wrong: 'stuck', why: 'the pool could not be closed' })
  findings.push(...((await subject.check?.(key, calls)) ?? []))
  return findings.map((finding) => ({ ...finding, fault, key, calls }))
}
