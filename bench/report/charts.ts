import { init } from 'echarts'

import { type Comparison, type Figure, figures } from '../measure/rounds.ts'
import { median } from '../measure/statistics.ts'
import type { Results } from './results.ts'

export interface Chart {
  readonly file: string
  readonly title: string
  readonly svg: string
}

interface Drawing {
  readonly file: string
  readonly title: string
  readonly unit: string
  readonly figure: Figure
  /** Groups of bars along the axis: the id of a comparison and what stands below it. */
  readonly groups: readonly (readonly [id: string, label: string])[]
}

/** Ours in one family of colours, whatever they are compared with in another; the same in each chart. */
const colours: Readonly<Record<string, string>> = {
  oncely: '#1f5fbf',
  'oncely, readFirst': '#5b95e6',
  'oncely, share lock': '#a9c8f5',
  'first execution': '#123a75',
  'by hand': '#3f8f5a',
  bare: '#6b7280',
  'bare without event': '#9ca3af',
  naive: '#d08a2e',
  'naive, lean table': '#e6bd85',
  'three commits': '#b4553c',
  'three commits, lean table': '#d79b8a',
}

const byConnections = (of: string) =>
  [1, 16, 64].map(
    (count) => [`${of}-${count}-0`, `${count} connection${count > 1 ? 's' : ''}`] as const,
  )

const drawings: readonly Drawing[] = [
  {
    file: 'first-executions.svg',
    title: 'First executions a second',
    unit: '1/s',
    figure: 'perSecond',
    groups: byConnections('first'),
  },
  {
    file: 'replays.svg',
    title: 'Replays a second',
    unit: '1/s',
    figure: 'perSecond',
    groups: byConnections('replay'),
  },
  {
    file: 'network.svg',
    title: 'A first execution on 1 connection, median in ms',
    unit: 'ms',
    figure: 'p50Ms',
    groups: [
      ['first-1-0', 'no network'],
      ['first-1-1', '1 ms of network'],
    ],
  },
]

/** One chart each, of those whose comparisons were measured. The same results draw the same bytes. */
export function chartsOf({ comparisons }: Results): Chart[] {
  return drawings.flatMap((drawing) => {
    const groups = drawing.groups.flatMap(([id, label]) => {
      const comparison = comparisons.find((one) => one.id === id)
      return comparison ? [{ label, comparison }] : []
    })
    if (groups.length === 0) return []
    const { file, title } = drawing
    return [{ file, title, svg: draw(drawing, groups) }]
  })
}

function draw(
  { title, unit, figure }: Drawing,
  groups: readonly { label: string; comparison: Comparison }[],
): string {
  const names = new Set(
    groups.flatMap(({ comparison }) => comparison.measured.map(({ name }) => name)),
  )
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 420 })
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', top: 8, textStyle: { fontSize: 15 } },
    legend: { bottom: 8, itemGap: 24 },
    grid: { left: 60, right: 20, top: 50, bottom: 80 },
    xAxis: { type: 'category', data: groups.map(({ label }) => label) },
    yAxis: { type: 'value', name: unit },
    series: [...names].map((name) => ({
      name,
      type: 'bar',
      itemStyle: { color: colours[name] },
      label: { show: true, position: 'top', fontSize: 9, formatter: shown },
      data: groups.map(({ comparison }) => valueOf(comparison, name, figure)),
    })),
  })
  const svg = chart.renderToSVGString()
  // Left open, it keeps the process alive.
  chart.dispose()
  return `${svg}\n`
}

function valueOf(comparison: Comparison, name: string, figure: Figure): number | null {
  const values = figures(comparison, name, figure)
  if (values.length === 0) return null
  const value = median(values)
  return figure === 'perSecond' ? Math.round(value) : Number(value.toFixed(2))
}

function shown({ value }: { value?: unknown }): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : ''
}
