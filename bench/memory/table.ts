import type { Table } from '../sections/section.ts'
import type { MemoryFigure, MemorySize } from './run.ts'

export function tableOf(figures: readonly MemoryFigure[], size: MemorySize): Table {
  const { calls, connections, rounds } = size
  const rows = figures.map(({ name, value, unit, kept }) => [
    name,
    Math.round(value).toLocaleString('en'),
    unit,
    kept === undefined ? '' : kept ? 'kept' : 'MISSED',
  ])
  const title = `Memory: ${calls} calls at once on ${connections} connections, ${rounds} rounds behind a first one`
  return { title, rows: [['', '', '', ''], ...rows] }
}
