import type { CompiledQuery } from 'kysely'

import type { OwnTables } from './enter.ts'

/** What is to be executed in front of COMMIT, and shares its turn where that can be. */
export interface LastStatements {
  readonly queries: readonly CompiledQuery[]
  /** What a failure of one of them is told as. */
  readonly failed: (error: unknown) => unknown
}

/** How a unit of work wants its transaction to end, and what it came to. */
export type Ending<Outcome> =
  | {
      readonly end: 'commit'
      readonly outcome: Outcome
      readonly last?: LastStatements
    }
  | {
      readonly end: 'rollback'
      readonly outcome: Outcome
      /** Whether the outcome is certain already, and nobody needs to wait for the rollback. */
      readonly isAnswer?: boolean
    }

/** Executes what is to be executed in front of COMMIT, one after the other. */
export async function runLast<Outcome>(own: OwnTables, ending: Ending<Outcome>): Promise<void> {
  if (ending.end === 'rollback' || !ending.last) return
  const { queries, failed } = ending.last
  try {
    for (const query of queries) await own.run(query)
  } catch (error) {
    throw failed(error)
  }
}
