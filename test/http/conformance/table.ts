// A reporter of `node:test`: checks × adapters as a table, and the reason of each cell that is empty.
import type { TestEvent } from 'node:test/reporters'

// Node loads it without tsx, so that it imports no adapter.
import { SUITE } from './suite.ts'

type Cell = 'yes' | 'FAILED' | { readonly reason: string }

export default async function* table(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = []
  const rows = new Map<string, Map<string, Cell>>()
  let suite = new Map<string, Cell>()
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { name, nesting, skip } = data
    if (nesting === 1) {
      suite.set(name, cellOf(type, skip))
      if (type === 'test:fail') yield `${name}\n${String(data.details.error.cause)}\n\n`
      continue
    }
    if (!name.startsWith(SUITE)) continue
    const adapter = name.slice(SUITE.length)
    names.push(adapter)
    for (const [check, cell] of suite) {
      const row = rows.get(check) ?? new Map<string, Cell>()
      rows.set(check, row.set(adapter, cell))
    }
    suite = new Map()
  }
  yield* print(names, rows)
}

const widthOf = (name = '') => Math.max(name.length, 'MISSING'.length) + 1

function cellOf(type: 'test:pass' | 'test:fail', skip: string | boolean | undefined): Cell {
  if (type === 'test:fail') return 'FAILED'
  return typeof skip === 'string' ? { reason: skip } : 'yes'
}

function* print(
  names: readonly string[],
  rows: ReadonlyMap<string, ReadonlyMap<string, Cell>>,
): Generator<string> {
  const width = Math.max(...[...rows.keys()].map(({ length }) => length))
  const reasons: string[] = []
  const textOf = (cell: Cell | undefined) => {
    if (typeof cell !== 'object') return cell ?? 'MISSING'
    if (!reasons.includes(cell.reason)) reasons.push(cell.reason)
    return `[${reasons.indexOf(cell.reason) + 1}]`
  }
  yield `${''.padEnd(width)}  ${names.map((name) => name.padEnd(widthOf(name))).join('')}\n`
  let cells = 0
  let kept = 0
  for (const [check, row] of rows) {
    const texts = names.map((name) => textOf(row.get(name)))
    cells += texts.filter((text) => !text.startsWith('[')).length
    kept += texts.filter((text) => text === 'yes').length
    yield `${check.padEnd(width)}  ${texts.map((text, at) => text.padEnd(widthOf(names[at]))).join('')}\n`
  }
  yield '\n'
  for (const [at, reason] of reasons.entries()) yield `[${at + 1}] ${reason}\n`
  yield `\n${kept} of ${cells} kept\n`
}
