import type { Choice } from './controller.ts'
import type { Flow } from './flow.ts'
import { judge, type Verdict } from './judge.ts'
import type { Scenario } from './scenario.ts'
import { runSchedule } from './schedule.ts'
import { Trace } from './trace.ts'

/** What came of a scenario. */
export interface Explored {
  readonly scenario: Scenario
  readonly schedules: number
  /** In how many of them somebody waited for a lock. */
  readonly waits: number
  readonly outcomes: ReadonlySet<string>
  /** The first schedule that violated something. */
  readonly violation?: {
    readonly problems: readonly string[]
    readonly trace: Trace
    readonly outcome?: string
  }
}

/** Told of each schedule that was run. */
export type OnSchedule = (scenario: Scenario, trace: Trace, verdict: Verdict) => void

/**
 * Runs every schedule of a scenario, or up to the first that violates something.
 *
 * @throws when it is stopped.
 */
export async function explore(
  flow: Flow,
  scenario: Scenario,
  stop: AbortSignal,
  onSchedule: OnSchedule,
): Promise<Explored> {
  const outcomes = new Set<string>()
  let schedules = 0
  let waits = 0
  let prefix: readonly Choice[] | undefined = []
  while (prefix && !stop.aborted) {
    const trace = new Trace()
    const key = `key-${schedules}`
    schedules += 1
    try {
      const course = await runSchedule(flow, scenario, key, prefix, trace)
      const verdict = await judge(flow, scenario, key, course)
      onSchedule(scenario, trace, verdict)
      if (verdict.problems.length > 0) {
        return { scenario, schedules, waits, outcomes, violation: { ...verdict, trace } }
      }
      outcomes.add(verdict.outcome)
      if (trace.waited) waits += 1
      prefix = nextPrefix(course.choices)
    } catch (error) {
      // Its connections may have been cut.
      stop.throwIfAborted()
      const problems = [error instanceof Error ? error.message : String(error)]
      return { scenario, schedules, waits, outcomes, violation: { problems, trace } }
    }
  }
  // What was not run is not to be taken for what has passed.
  stop.throwIfAborted()
  return { scenario, schedules, waits, outcomes }
}

/** The same choices up to the last where somebody else could have gone, and then that one. */
function nextPrefix(choices: readonly Choice[]): readonly Choice[] | undefined {
  const at = choices.findLastIndex(({ index, of }) => index + 1 < of.length)
  const last = choices[at]
  return last && [...choices.slice(0, at), { ...last, index: last.index + 1 }]
}
