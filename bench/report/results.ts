import type { Machine } from '../machine.ts'
import type { Comparison } from '../measure/rounds.ts'
import type { NetworkFigures } from '../network/delayed-network.ts'
import type { Table } from '../sections/section.ts'

/** All that a run has measured; everything printed and drawn is made from it. */
export interface Results {
  readonly format: 1
  readonly measuredAt: string
  readonly quick: boolean
  readonly tookSeconds: number
  readonly machine: Machine
  readonly network: NetworkFigures
  readonly comparisons: readonly Comparison[]
  readonly tables: readonly Table[]
}

/** @throws Error for a file that is not of this version. */
export function parseResults(text: string): Results {
  const results = JSON.parse(text) as Results
  if ((results as { format?: unknown }).format !== 1) {
    throw new Error('this file was not written by `npm run bench -- --json` of this version')
  }
  return results
}
