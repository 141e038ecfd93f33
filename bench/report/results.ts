import { judge } from '../budgets.ts'
import type { Machine } from '../machine.ts'
import type { Comparison } from '../measure/rounds.ts'
import type { NetworkFigures } from '../network/delayed-network.ts'
import type { Table } from '../sections/section.ts'

/** All that a run has measured; everything printed and drawn is made from it. */
export interface Results {
  readonly format: 2
  readonly measuredAt: string
  readonly quick: boolean
  /** Names of sections that a quick run has no time for. */
  readonly leftOut: readonly string[]
  readonly tookSeconds: number
  readonly machine: Machine
  readonly network: NetworkFigures
  readonly comparisons: readonly Comparison[]
  readonly tables: readonly Table[]
  /** What the tables say that is not as promised; budgets are judged by themselves. */
  readonly missed: readonly string[]
}

/** @throws Error for a file that is not of this version. */
export function parseResults(text: string): Results {
  const results = JSON.parse(text) as Results
  if ((results as { format?: unknown }).format !== 2) {
    throw new Error('this file was not written by `npm run bench -- --json` of this version')
  }
  return results
}

/** What kind of run it was, as the report says it. */
export function kindOf({ quick, leftOut }: Results): string {
  if (!quick) return 'a full run'
  return leftOut.length > 0
    ? `a quick run, which has no time for ${leftOut.join(' and ')}`
    : 'a quick run'
}

/** Names of all that is not as promised. */
export function missedIn({ comparisons, missed }: Results): string[] {
  const budgets = judge(comparisons).filter(({ verdict }) => verdict === 'MISSED')
  return [...budgets.map(({ budget }) => budget.name), ...missed]
}
