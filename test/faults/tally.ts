import type { Fault, Problem } from 'oncely/testing'

import { countsOf, describeProblems } from '../../src/testing/summary.ts'
import { textTable } from '../support/text-table.ts'
import type { HostName } from './notes.ts'

/** Of what the faults were. */
interface Where {
  readonly name: string
  readonly host: HostName | 'all'
}

interface Came {
  readonly faults: readonly Fault[]
  readonly problems: readonly Problem[]
}

interface Row extends Where {
  readonly places: Map<string, Set<string>>
}

/** What faults came to, by scenario and fault. */
export class Tally {
  /** By scenario on a host and by fault, the places where it struck. */
  readonly #rows = new Map<string, Row>()
  readonly #problems: Problem[] = []

  add({ name, host }: Where, { faults, problems }: Came): void {
    const title = `${name}, ${host}`
    const row = this.#rows.get(title) ?? { name, host, places: new Map<string, Set<string>>() }
    this.#rows.set(title, row)
    for (const { kind, direction, message, side } of faults) {
      const places = row.places.get(nameOf(kind)) ?? new Set()
      row.places.set(nameOf(kind), places.add(`${side} ${message} ${direction}`))
    }
    this.#problems.push(...problems)
    console.log(`${title}: ${faults.length} faults, ${problems.length} problems`)
    if (problems.length > 0) console.log(describeProblems(problems))
  }

  /** How many there were, no two of them the same fault at the same place of the same scenario. */
  get faults(): number {
    return this.#faultsIn([...this.#rows.values()])
  }

  /** How many of them by that host. */
  faultsBy(host: HostName): number {
    return this.#faultsIn([...this.#rows.values()].filter((row) => row.host === host))
  }

  #faultsIn(rows: readonly Row[]): number {
    return rows
      .flatMap(({ places }) => [...places.values()])
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
    const rows = [...this.#rows.values()]
    const kinds = [...new Set(rows.flatMap(({ places }) => [...places.keys()]))]
    const lines = rows.map(({ name, host, places }) => [
      name,
      host,
      ...kinds.map((kind) => String(places.get(kind)?.size ?? '')),
    ])
    return textTable([['scenario', 'host', ...kinds], ...lines])
  }
}

const sum = (a: number, b: number) => a + b
const nameOf = (kind: Fault['kind']) => (typeof kind === 'string' ? kind : kind.name)
