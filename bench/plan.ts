import { budgets } from './budgets.ts'
import type { Plan, Section } from './sections/section.ts'

type Thoroughness = Omit<Plan, 'wants'>

/** Under 90 seconds: what has a budget, and nothing else. */
const quick: Thoroughness = {
  quick: true,
  budgeted: { rounds: 15, roundMs: 180 },
  other: undefined,
  many: 100_000,
}

const full: Thoroughness = {
  quick: false,
  budgeted: { rounds: 11, roundMs: 1_000 },
  other: { rounds: 7, roundMs: 700 },
  many: 5_000_000,
}

/**
 * What to measure.
 *
 * @param only - parts of the names of budgets and sections; none for everything.
 */
export function planOf(
  isQuick: boolean,
  only: readonly string[],
  sections: readonly Section[],
): {
  readonly plan: Plan
  readonly chosen: readonly Section[]
  /** Names of what would have been measured, had there been time. */
  readonly leftOut: readonly string[]
} {
  const isNamed = (name: string) => only.some((part) => name.includes(part))
  const all = only.length === 0
  const isLeftOut = ({ fullOnly = false }: Section) => all && isQuick && fullOnly
  const whole = sections.filter((one) => (all ? !isLeftOut(one) : isNamed(one.name)))
  const ids = budgets.filter(({ name }) => isNamed(name)).map(({ comparison }) => comparison)
  const isOf = (id: string, of: readonly Section[]) => of.some((one) => id.startsWith(one.id))
  const wants = (id: string) => isOf(id, whole) || ids.includes(id)
  const chosen = sections.filter((one) => whole.includes(one) || ids.some((id) => isOf(id, [one])))
  const leftOut = sections.filter(isLeftOut).map(({ name }) => name)
  return { plan: { ...(isQuick ? quick : full), wants }, chosen, leftOut }
}
