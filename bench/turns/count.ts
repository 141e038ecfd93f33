import { randomUUID } from 'node:crypto'

import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import { oncelyDialect } from '../../src/pg.ts'
import { bareTransaction, type Business, type TurnCase, type TurnHost } from './cases.ts'
import type { Turn, TurnCounter } from './counter.ts'

const wrap = (dialect: Dialect) => oncelyDialect(dialect)
const asItIs = (dialect: Dialect) => dialect

export const turnHosts = {
  pipelining: { wrap, pipeline: true },
  oncelyDialect: { wrap, pipeline: false },
  plain: { wrap: asItIs, pipeline: false },
} as const satisfies Record<TurnHost, unknown>

/** Whether our statements have been prepared on the connection before. */
export type Connection = 'fresh' | 'warm'

/** What one case costs on one host. */
export interface Counted {
  readonly case: TurnCase
  readonly host: TurnHost
  readonly connection: Connection
  /** Until the call's promise has resolved. */
  readonly turns: number
  /** Of the same business in a transaction of the host's own. */
  readonly bare: number
  /** Every turn of the call, also the one behind its answer, with its statements. */
  readonly recorded: readonly Turn[]
}

/** Where the counting happens: the counter, and the same database without it. */
export interface Ground {
  readonly counter: TurnCounter
  readonly direct: Kysely<Business>
}

/** Counts cases on one host, each on a connection of its own where it is to be a fresh one. */
export async function countCases(
  ground: Ground,
  cases: readonly TurnCase[],
  host: TurnHost,
  connection: Connection,
): Promise<readonly Counted[]> {
  const count = async (of: TurnCase, db: Kysely<Business>) => {
    const { direct } = ground
    const key = randomUUID()
    await of.before?.(direct, key)
    const call = await counted(ground, db, () => of.call(db, key))
    const { kind } = call.result
    if (kind !== of.kind) throw new Error(`${of.name} ended as ${kind}, not as ${of.kind}`)
    const { turns: bare } = await counted(ground, db, () =>
      bareTransaction(db, randomUUID(), of.statements),
    )
    return { case: of, host, connection, turns: call.turns, bare, recorded: call.recorded }
  }
  const all: Counted[] = []
  if (connection === 'fresh') {
    for (const of of cases) all.push(await on(ground, host, (db) => count(of, db)))
    return all
  }
  await on(ground, host, async (db) => {
    // Each statement has then been prepared.
    for (const of of cases) await count(of, db)
    for (const of of cases) all.push(await count(of, db))
  })
  return all
}

async function on<Result>(
  { counter }: Ground,
  host: TurnHost,
  run: (db: Kysely<Business>) => Promise<Result>,
): Promise<Result> {
  const { wrap, pipeline } = turnHosts[host]
  const pool = new Pool({ connectionString: counter.url, max: 1, ...(pipeline && { pipeline }) })
  const db = new Kysely<Business>({ dialect: wrap(new PostgresDialect({ pool })) })
  try {
    return await run(db)
  } finally {
    await db.destroy()
  }
}

async function counted<Result>(
  { counter }: Ground,
  db: Kysely<Business>,
  run: () => Promise<Result>,
): Promise<{ result: Result; turns: number; recorded: readonly Turn[] }> {
  counter.restart()
  const result = await run()
  const turns = counter.turns.length
  // What is still to be sent on the only connection is sent in front of it.
  await sql`select 1`.execute(db)
  return { result, turns, recorded: counter.turns }
}
