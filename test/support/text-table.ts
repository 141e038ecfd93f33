/** Lines of a table: the first column to the left, as it names the row, the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  const pad = (cell: string, at: number) => {
    const width = widths[at] ?? 0
    return at === 0 ? cell.padEnd(width) : cell.padStart(width)
  }
  return rows.map((row) => row.map(pad).join('  ')).join('\n')
}
