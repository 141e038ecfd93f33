import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { format, resolveConfig } from 'prettier'

import type { SeededBug } from './bug.ts'

const file = join(import.meta.dirname, '../../docs/seeded-bugs.md')
const [begin, end] = ['<!-- table -->', '<!-- end of table -->']

/** What is said of each bug, in the order of the columns. */
export function rowsOf(bugs: readonly SeededBug[]): string[][] {
  return bugs.map(({ name, proof, says }) => [name, `\`${proof.command}\``, `\`${says}\``])
}

export function tableOf(bugs: readonly SeededBug[]): string {
  const head = ['seeded bug', 'proof that turns red', 'what it says']
  const lines = [head, head.map(() => '---'), ...rowsOf(bugs)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The rows of the page, its head left out. */
export function rowsOnPage(): string[][] {
  const [, behind = ''] = readFileSync(file, 'utf8').split(begin)
  const lines = behind.split(end)[0]?.split('\n') ?? []
  const rows = lines.filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

export async function writePage(bugs: readonly SeededBug[]): Promise<void> {
  const page = readFileSync(file, 'utf8')
  const [before, behind] = [page.split(begin)[0] ?? '', page.split(end)[1] ?? '']
  const text = `${before}${begin}\n\n${tableOf(bugs)}\n\n${end}${behind}`
  const style = await resolveConfig(file)
  writeFileSync(file, await format(text, { ...style, parser: 'markdown' }))
}
