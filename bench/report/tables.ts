import { type Judged, judge } from '../budgets.ts'
import { type Comparison, type Figure, figures, ratioIn } from '../measure/rounds.ts'
import { median, type Ratio } from '../measure/statistics.ts'
import type { Table } from '../sections/section.ts'
import type { Results } from './results.ts'

// Tables of what a run has to say; the first row is the head.

export function machineTable({ machine, network }: Results): Table {
  return { title: 'Machine', rows: [['', ''], ...Object.entries(machine), networkRow(network)] }
}

export function figureTables({ comparisons, tables }: Results): Table[] {
  return [...comparisons.map(comparisonTable), ...tables]
}

/** None where nothing was measured that has a budget. */
export function budgetTables(results: Results): Table[] {
  const judged = judge(results.comparisons)
  if (judged.every(({ ratio }) => !ratio)) return []
  return [{ title: 'Budgets', rows: budgetRows(judged, results) }]
}

function networkRow({ wantedMs, directMs, delayedMs }: Results['network']): string[] {
  const ms = (value: number) => `${value.toFixed(2)} ms`
  const added = delayedMs - directMs
  return [
    `network of ${wantedMs} ms`,
    `a round trip of ${ms(delayedMs)} instead of ${ms(directMs)}: ${ms(added)} more`,
  ]
}

function comparisonTable(comparison: Comparison): Table {
  const base = comparison.measured[0]?.name ?? ''
  const head = ['', 'per second', `÷ ${base}`, 'p50 ms', `÷ ${base}`, 'p99 ms']
  const rows = comparison.measured.map(({ name }) => {
    const of = (figure: Figure) => median(figures(comparison, name, figure))
    return [
      name,
      Math.round(of('perSecond')).toLocaleString('en-US'),
      ratioText(ratioIn(comparison, 'perSecond', name, base)),
      of('p50Ms').toFixed(2),
      ratioText(ratioIn(comparison, 'p50Ms', name, base)),
      of('p99Ms').toFixed(2),
    ]
  })
  const rounds = comparison.measured[0]?.rounds.length ?? 0
  return { title: `${comparison.title}; medians of ${rounds} rounds`, rows: [head, ...rows] }
}

function budgetRows(judged: readonly Judged[], { comparisons, quick }: Results): string[][] {
  const rows = judged.map(({ budget, ratio, verdict }) => {
    const sign = budget.direction === 'at least' ? '≥' : '≤'
    const found = comparisons.find(({ id }) => id === budget.comparison)
    const bounds = [budget.must, budget.aim].map((bound) => `${sign} ${bound}`)
    const isFewer = budget.comparison === 'records' && quick
    return [
      isFewer ? `${budget.name}; here fewer, see above` : budget.name,
      ratioText(ratio),
      ...bounds,
      verdict,
      found ? `${found.connections}, ${found.networkMs} ms` : '',
    ]
  })
  return [['', 'ratio (min–max)', 'must', 'aim', '', 'connections, network'], ...rows]
}

function ratioText(ratio: Ratio | undefined): string {
  if (!ratio) return '–'
  const [middle, min, max] = [ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2))
  return `${middle} (${min}–${max})`
}
