import { randomUUID } from 'node:crypto'
import { getEventListeners } from 'node:events'

import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool } from 'pg'

import { type CallOptions, createIdempotency, fingerprint } from '../../src/index.ts'
import { migrateToLatest } from '../../src/migrations.ts'
import { guardPool, oncelyDialect } from '../../src/pg.ts'
import { countListeners, fly, type Flight } from './in-flight.ts'

export interface MemorySize {
  readonly calls: number
  readonly connections: number
  readonly rounds: number
}

export const fullSize: MemorySize = { calls: 10_000, connections: 16, rounds: 3 }
export const quickSize: MemorySize = { calls: 2_000, connections: 16, rounds: 3 }

export interface MemoryFigure {
  readonly name: string
  readonly value: number
  readonly unit: 'bytes' | 'listeners'
  /** Undefined where nothing is promised. */
  readonly kept?: boolean
}

interface Host {
  memory_notes: { id: string; body: string }
}

/** What is noise, behind calls that are all over. */
const MOST_GROWTH_BYTES = 1_048_576

/** Later than any of this. */
const LATE_MS = 600_000

interface Variant {
  readonly name: string
  readonly call: () => Promise<unknown>
}

const scope = { tenant: 't1', actor: 'u1', operation: 'memory' }
const decisive = fingerprint(1, { version: 1 })

/** @param url - of a database that is migrated if it is not yet. */
export async function run(url: string, size: MemorySize): Promise<readonly MemoryFigure[]> {
  const pool = guardPool(new Pool({ connectionString: url, max: size.connections, pipeline: true }))
  const db = new Kysely<Host>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
  try {
    await migrateToLatest(db)
    await sql`create table if not exists memory_notes (id uuid primary key, body text)`.execute(db)
    return await measure(pool, db, size)
  } finally {
    await db.destroy()
  }
}

async function measure(
  pool: Pool,
  db: Kysely<Host>,
  { calls, rounds }: MemorySize,
): Promise<readonly MemoryFigure[]> {
  const idempotency = createIdempotency(db)
  const write = async (tx: Transaction<Host>) => {
    await tx.insertInto('memory_notes').values({ id: randomUUID(), body: 'x' }).execute()
  }
  const { signal } = new AbortController()
  const variants: readonly Variant[] = [
    { name: 'bare transaction', call: () => db.transaction().execute(write) },
    { name: 'call', call: () => calling() },
    { name: 'call with signal', call: () => calling({ signal }) },
    { name: 'call with deadlineMs', call: () => calling({ deadlineMs: LATE_MS }) },
  ]
  const calling = (options?: CallOptions) =>
    idempotency.withIdempotency(scope, randomUUID(), decisive, write, options)
  const figures: MemoryFigure[] = []
  const before = await countListeners(pool)
  for (const variant of variants) {
    const flights: Flight[] = []
    for (let round = 0; round <= rounds; round += 1) {
      flights.push(await fly(pool, calls, variant.call))
    }
    // The first one compiles, connects, and prepares.
    figures.push(...figuresOf(variant, flights.slice(1), calls))
  }
  const left = (await countListeners(pool)) - before
  const onSignal = getEventListeners(signal, 'abort').length
  const unit = 'listeners'
  return [
    ...figures,
    { name: 'left on process, pool and clients', value: left, unit, kept: left <= 0 },
    { name: 'left on the signal', value: onSignal, unit, kept: onSignal === 0 },
  ]
}

function figuresOf(
  { name }: Variant,
  flights: readonly Flight[],
  calls: number,
): readonly MemoryFigure[] {
  const each = flights.map(({ before, waiting }) => (waiting - before) / calls)
  const [first, last] = [flights[0], flights.at(-1)]
  const growth = first && last ? last.after - first.after : NaN
  const unit = 'bytes'
  const ofEach = { name: `${name}: each in flight`, value: median(each), unit } as const
  const kept = growth <= MOST_GROWTH_BYTES
  return [ofEach, { name: `${name}: growth from first round to last`, value: growth, unit, kept }]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN
}
