import type { Fault, Problem } from 'oncely/testing'

import { countsOf, describeProblems } from '../../src/testing/summary.ts'
import { textTable } from '../support/text-table.ts'

/** What faults came to, by scenario and fault. */
export class Tally {
  /** By scenario and by fault, the places where it struck. */
  readonly #places = new Map<string, Map<string, Set<string>>>()
  readonly #problems: Problem[] = []

  add(
    scenario: string,
    {
      faults,
      problems,
    }: { readonly faults: readonly Fault[]; readonly problems: readonly Problem[] },
  ): void {
    const row = this.#places.get(scenario) ?? new Map<string, Set<string>>()
    this.#places.set(scenario, row)
    for (const { kind, direction, message, side } of faults) {
      const places = row.get(nameOf(kind)) ?? new Set()
      row.set(nameOf(kind), places.add(`${side} ${message} ${direction}`))
    }
    this.#problems.push(...problems)
    console.log(`${scenario}: ${faults.length} faults, ${problems.length} problems`)
    if (problems.length > 0) console.log(describeProblems(problems))
  }

  /** How many there were, no two of them the same fault at the same place of the same scenario. */
  get faults(): number {
    return [...this.#places.values()]
      .flatMap((row) => [...row.values()])
      .map(({ size }) => size)
      .reduce(sum, 0)
  }

  get problems(): number {
    return this.#problems.length
  }

  /** The last line of a proof. */
  get verdict(): string {
    return countsOf(this.faults, this.#problems)
  }

  /** One row a scenario, one column a fault. */
  table(): string {
    const kinds = [...new Set([...this.#places.values()].flatMap((row) => [...row.keys()]))]
    const rows = [...this.#places].map(([scenario, row]) => [
      scenario,
      ...kinds.map((kind) => String(row.get(kind)?.size ?? '')),
    ])
    return textTable([['scenario', ...kinds], ...rows])
  }
}

const sum = (a: number, b: number) => a + b
const nameOf = (kind: Fault['kind']) => (typeof kind === 'string' ? kind : kind.name)
