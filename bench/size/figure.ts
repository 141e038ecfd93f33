import type { Table } from '../sections/section.ts'

/** One number about sizes; those of a section make a table. */
export interface Figure {
  readonly section: string
  /** Name of the row. */
  readonly name: string
  readonly column: string
  readonly value: number
  readonly unit: 'bytes' | '%' | 'records'
  /** Undefined where nothing is promised. */
  readonly kept?: boolean
}

/** The figures of one row: column → value. */
export function row(
  section: string,
  name: string,
  unit: Figure['unit'],
  values: Readonly<Record<string, number>>,
): readonly Figure[] {
  return Object.entries(values).map(([column, value]) => ({ section, name, column, value, unit }))
}

export function tablesOf(figures: readonly Figure[]): readonly Table[] {
  const sections = Map.groupBy(figures, ({ section }) => section)
  return [...sections].map(([title, of]) => ({ title: `Size: ${title}`, rows: rowsOf(of) }))
}

function rowsOf(figures: readonly Figure[]): Table['rows'] {
  const columns = [...new Set(figures.map(({ column }) => column))]
  const rows = Map.groupBy(figures, ({ name }) => name)
  const lines = [...rows].map(([name, cells]) => [
    name,
    ...columns.map((column) => cell(cells.find((figure) => figure.column === column))),
  ])
  return [['', ...columns], ...lines]
}

function cell(figure: Figure | undefined): string {
  if (!figure) return ''
  const { value, unit, kept } = figure
  const digits = Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0
  const text = `${value.toLocaleString('en', { maximumFractionDigits: digits })}${unit === '%' ? ' %' : ''}`
  return kept === false ? `${text} MISSED` : text
}
