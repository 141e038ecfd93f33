import { textTable } from '../../test/support/text-table.ts'
import type { MemoryFigure, MemorySize } from './run.ts'

export function print(figures: readonly MemoryFigure[], size: MemorySize): string {
  const { calls, connections, rounds } = size
  const rows = figures.map(({ name, value, unit, kept }) => [
    name,
    Math.round(value).toLocaleString('en'),
    unit,
    kept === undefined ? '' : kept ? 'kept' : 'MISSED',
  ])
  const head = `${calls} calls at once on ${connections} connections, ${rounds} rounds behind a first one`
  return `${head}\n${textTable(rows)}`
}
