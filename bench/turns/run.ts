import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'

import { migrateToLatest } from '../../src/migrations.ts'
import { budgetOf, extraOf } from './budget.ts'
import { type Business, createBusiness, turnCases, type TurnHost } from './cases.ts'
import { type Connection, countCases, type Counted, turnHosts } from './count.ts'
import { startTurnCounter } from './counter.ts'

/** One line of the report. */
export interface TurnFigure {
  readonly name: string
  readonly value: number
  readonly unit: 'turns' | 'extra turns'
  /** Undefined where nothing is promised. */
  readonly kept: boolean | undefined
  readonly counted: Counted
}

const hosts = Object.keys(turnHosts) as TurnHost[]
const connections = ['warm', 'fresh'] as const satisfies readonly Connection[]

/** Counts every case on every host. @param url - of an empty database, which is migrated. */
export async function run(url: string): Promise<readonly TurnFigure[]> {
  const pool = new Pool({ connectionString: url, max: 1 })
  const direct = new Kysely<Business>({ dialect: new PostgresDialect({ pool }) })
  const counter = await startTurnCounter(url)
  try {
    await migrateToLatest(direct)
    await createBusiness.execute(direct)
    const figures: TurnFigure[] = []
    for (const host of hosts) {
      for (const connection of connections) {
        const counted = await countCases({ counter, direct }, turnCases, host, connection)
        figures.push(...counted.map(figureOf))
      }
    }
    return figures
  } finally {
    await counter.close()
    await direct.destroy()
  }
}

function figureOf(counted: Counted): TurnFigure {
  const { case: of, host, connection, turns } = counted
  const isReplay = of.of === 'replay'
  return {
    name: `${host}, ${connection}: ${of.name}`,
    value: isReplay ? turns : extraOf(counted),
    unit: isReplay ? 'turns' : 'extra turns',
    kept: budgetOf(counted)?.kept,
    counted,
  }
}

/** As lines; what is not as promised says so at its end. */
export function print(figures: readonly TurnFigure[]): string {
  const lines = figures.map(({ name, kept, counted }) => {
    const text = `${name}: ${counted.turns} turn${counted.turns === 1 ? '' : 's'}, bare ${counted.bare}, extra turns: ${extraOf(counted)}`
    return kept === false ? `${text}  MISSED: ${String(budgetOf(counted)?.text)}` : text
  })
  const promised = figures.filter(({ kept }) => kept !== undefined)
  const missed = promised.filter(({ kept }) => kept === false)
  lines.push(`${promised.length - missed.length} of ${promised.length} promises kept`)
  return lines.join('\n')
}
