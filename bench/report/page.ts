import type { Table } from '../sections/section.ts'
import type { Chart } from './charts.ts'
import { kindOf, type Results } from './results.ts'
import { budgetTables, figureTables, machineTable } from './tables.ts'

/** The page beside the charts: every number that is told anywhere else stands here. */
export function pageOf(results: Results, charts: readonly Chart[]): string {
  const { measuredAt, tookSeconds } = results
  const took =
    tookSeconds < 120 ? `${tookSeconds} seconds` : `${Math.round(tookSeconds / 60)} minutes`
  const lines = [
    '# Results of the benchmark',
    '',
    `Measured on ${measuredAt.slice(0, 10)} by \`npm run bench\`, ${kindOf(results)}, in ${took}.`,
    'This page and the charts are drawn from [results.json](results.json) by',
    '`npm run bench -- --from bench/results/results.json --charts bench/results`.',
    '',
    'All contestants of a table were measured in turns, in alternating rounds. A ratio is the median of',
    'those of the single rounds, with the smallest and the largest. What each contestant does is in',
    '[bench/variants](../variants).',
    '',
    ...budgetTables(results).flatMap(markdownOf),
    ...charts.flatMap(({ file, title }) => [`![${title}](${file})`, '']),
    ...figureTables(results).flatMap(markdownOf),
    ...markdownOf(machineTable(results)),
  ]
  return lines.join('\n')
}

function markdownOf({ title, rows: [head = [], ...rows] }: Table): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'))
  return [`## ${title}`, '', line(head), line(rule), ...rows.map(line), '']
}
