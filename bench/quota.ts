// `npm run bench:quota`: what a quota costs, with many calls of one actor at the same moment. Ratios of
// one run, in alternating rounds; beside it the counter that everybody thinks of first, one row an actor.
import { randomUUID } from 'node:crypto'

import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool } from 'pg'

import { createIdempotency, fingerprint } from '../src/index.ts'
import { migrateToLatest } from '../src/migrations.ts'
import { startEmbeddedServer } from '../test/support/embedded-server.ts'

const CONNECTIONS = 8
const ROUNDS = 7
const ROUND_MS = 1_000

interface Host {
  notes: { id: string; body: string }
}

const server = await startEmbeddedServer()
const pool = new Pool({ connectionString: server.url, max: CONNECTIONS })
const db = new Kysely<Host>({ dialect: new PostgresDialect({ pool }) })
const idempotency = createIdempotency(db)
const limited = idempotency.withOptions({ quota: { limit: 1_000_000, windowMs: 10_000 } })
const print = fingerprint(1, { version: 1 })
const scope = { tenant: 't', actor: 'one', operation: 'o' }

const write = async (tx: Transaction<Host>) => {
  await tx.insertInto('notes').values({ id: randomUUID(), body: 'x' }).execute()
}

const variants = {
  'no quota': () => idempotency.withIdempotency(scope, randomUUID(), print, write),
  quota: () => limited.withIdempotency(scope, randomUUID(), print, write),
  'a counter an actor': () =>
    idempotency.withIdempotency(scope, randomUUID(), print, async (tx) => {
      await sql`update counters set used = used + 1 where actor = 'one'`.execute(tx)
      await write(tx)
    }),
}

/** First executions a second. */
async function round(call: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + ROUND_MS
  const begun = performance.now()
  let count = 0
  const caller = async () => {
    while (performance.now() < end) {
      await call()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, caller))
  return count / ((performance.now() - begun) / 1_000)
}

try {
  await migrateToLatest(db)
  await sql`create table notes (id uuid primary key, body text);
    create table counters (actor text primary key, used int);
    insert into counters values ('one', 0)`.execute(db)
  const rates = new Map<string, number[]>()
  for (let index = 0; index <= ROUNDS; index += 1) {
    for (const [name, call] of Object.entries(variants)) {
      const rate = await round(call)
      // The first round warms up.
      if (index > 0) rates.set(name, [...(rates.get(name) ?? []), rate])
    }
  }
  const median = (name: string) =>
    (rates.get(name) ?? []).toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0
  console.log(`${CONNECTIONS} connections, one actor, ${ROUNDS} rounds, medians, fsync off`)
  for (const name of Object.keys(variants)) {
    const ratio = (median(name) / median('no quota')).toFixed(2)
    console.log(`${name.padEnd(20)} ${Math.round(median(name))}/s  × ${ratio}`)
  }
} finally {
  await db.destroy()
  await server.stop()
}
