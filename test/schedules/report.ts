import { textTable } from '../support/text-table.ts'
import type { Explored } from './depth-first.ts'
import { EVERY_STATEMENT } from './scenario.ts'

/** One line a scenario, in columns. */
export function tableOf(explored: readonly Explored[]): string {
  const rows = explored.map(({ scenario, schedules, waits, outcomes }) => [
    scenario.name,
    scenario.host,
    String(schedules),
    String(waits),
    String(outcomes.size),
  ])
  return textTable([['scenario', 'host', 'schedules', 'with a wait', 'outcomes'], ...rows])
}

/** A schedule that violated something, to be read from top to bottom. */
export function violationsOf(explored: readonly Explored[]): readonly string[] {
  return explored.flatMap(({ scenario, violation }) => {
    if (!violation) return []
    const { problems, trace, outcome } = violation
    const wrong = problems.map((problem) => `  - ${problem}`).join('\n')
    return [
      `${scenario.name}, ${scenario.host}:\n${trace.toString()}\n${outcome ?? ''}\nviolated:\n${wrong}`,
    ]
  })
}

/** Where the schedules without the reduction have come to something else than those with it. */
export function hiddenByReduction(explored: readonly Explored[]): readonly string[] {
  // Where something was violated, not all were run.
  const whole = explored.filter(({ violation }) => !violation)
  return whole.flatMap(({ scenario: { name, host }, outcomes }) => {
    const every = whole.find(
      ({ scenario }) => scenario.host === host && scenario.name === name + EVERY_STATEMENT,
    )?.outcomes
    if (!every || isSame(outcomes, every)) return []
    const list = (set: ReadonlySet<string>) => [...set].map((one) => `  ${one}`).join('\n')
    return [`${name}, ${host}: reduced\n${list(outcomes)}\nby every statement\n${list(every)}`]
  })
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((outcome) => other.has(outcome))
}
