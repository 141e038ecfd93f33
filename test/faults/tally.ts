import type { Fault, Problem, Wrong } from 'oncely/testing'

const wrongs = ['lost', 'duplicated', 'misreported', 'stuck'] as const satisfies readonly Wrong[]

/** What faults came to, by scenario and fault. */
export class Tally {
  /** By scenario and by fault, the places where it struck. */
  readonly #places = new Map<string, Map<string, Set<string>>>()
  readonly #found = new Map<Wrong, number>()

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
    for (const { wrong } of problems) this.#found.set(wrong, (this.#found.get(wrong) ?? 0) + 1)
    problems.slice(0, SHOWN).forEach((problem) => {
      console.log(describe(scenario, problem))
    })
  }

  /** How many there were, no two of them the same fault at the same place of the same scenario. */
  get faults(): number {
    return [...this.#places.values()]
      .flatMap((row) => [...row.values()])
      .map(({ size }) => size)
      .reduce(sum, 0)
  }

  get problems(): number {
    return [...this.#found.values()].reduce(sum, 0)
  }

  /** The last line of a proof. */
  get verdict(): string {
    const found = wrongs.map((wrong) => `${wrong}: ${this.#found.get(wrong) ?? 0}`)
    return [`faults: ${this.faults}`, ...found].join(', ')
  }

  /** One row a scenario, one column a fault. */
  table(): string {
    const kinds = [...new Set([...this.#places.values()].flatMap((row) => [...row.keys()]))]
    const rows = [...this.#places].map(([scenario, row]) => [
      scenario,
      ...kinds.map((kind) => String(row.get(kind)?.size ?? '')),
    ])
    const lines = [['scenario', ...kinds], ...rows]
    const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
    const pad = (cell: string, at: number) =>
      at === 0 ? cell.padEnd(widths?.[at] ?? 0) : cell.padStart(widths?.[at] ?? 0)
    return lines.map((line) => line.map(pad).join('  ')).join('\n')
  }
}

/** Of each scenario; one bug has many. */
const SHOWN = 3

const sum = (a: number, b: number) => a + b
const nameOf = (kind: Fault['kind']) => (typeof kind === 'string' ? kind : kind.name)

function describe(scenario: string, { fault, wrong, why, calls }: Problem): string {
  const { direction, message, side, kind } = fault
  const told = calls.map(({ told, givenUp }) => {
    const what = !told
      ? 'nothing'
      : 'result' in told
        ? JSON.stringify(told.result)
        : String(told.error)
    return `  ${givenUp ? 'given up, later told' : 'told'} ${what}`
  })
  const where = `${scenario}: ${nameOf(kind)} ${side} message ${message} ${direction}`
  return [`${where}: ${wrong}: ${why}`, ...told].join('\n')
}
