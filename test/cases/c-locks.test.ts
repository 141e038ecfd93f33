import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe('keys whose hashes collide', () => {
  /** Two keys that are one by PostgreSQL's hash of 32 bits, which advisory locks are often taken by. */
  async function collidingKeys(): Promise<readonly [string, string]> {
    const { rows } = await sql<{ first: string; second: string }>`
      select min(key) as first, max(key) as second
      from (select 'key ' || n as key from generate_series(1, 400000) n) keys
      group by hashtext(key) having count(*) > 1 limit 1`.execute(database.watcher)
    const [pair] = rows
    if (!pair) throw new Error('no two keys collide')
    return [pair.first, pair.second]
  }

  const advisoryLocks = async (db: Kysely<NotesDatabase>) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_locks
      where locktype = 'advisory' and pid = pg_backend_pid()`.execute(db)
    return rows[0]?.count
  }

  it('C22: are two keys: one does not wait for the other, nor is it its answer', async () => {
    const [first, second] = await collidingKeys()
    using hold = gate()
    const holder = beside(
      createIdempotency(host.connect()).withIdempotency(scope, first, one, async (tx, context) => {
        await writeNote(tx, context)
        await hold.pass()
        return advisoryLocks(tx)
      }),
    )
    await stopsAt(hold, holder)
    const hasty = createIdempotency(host.connect(), { lockTimeoutMs: 1 })
    strictEqual((await hasty.withIdempotency(scope, first, one, writeNote)).kind, 'in_progress')
    strictEqual((await hasty.withIdempotency(scope, second, one, writeNote)).kind, 'executed')
    hold.open()
    // A row is what is locked, and nothing that is derived from it.
    deepStrictEqual(await holder, { ok: true, kind: 'executed', value: 0 })
    for (const key of [first, second]) deepStrictEqual(await host.left(key), written)
  })

  it('C22: can both be used in one transaction', async () => {
    const [first, second] = await collidingKeys()
    const db = host.connect()
    const idempotency = createIdempotency(db)
    const elsewhere = { ...scope, operation: 'notes.join' }
    const kinds = await db.transaction().execute(async (tx) => {
      const joined = idempotency.withTransaction(tx)
      return [
        await joined.withIdempotency(elsewhere, first, one, () => 1),
        await joined.withIdempotency(elsewhere, second, one, () => 2),
      ].map((result) => result.ok && [result.kind, result.value])
    })
    deepStrictEqual(kinds, [
      ['applied', 1],
      ['applied', 2],
    ])
  })
})

describe('ten writers with a key each, where serializable is the default', () => {
  it('C24: all execute at the first run, however much they read of each other', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `writer ${index}`)
    const db = host.connect({
      max: keys.length,
      options: '-c default_transaction_isolation=serializable',
    })
    const idempotency = createIdempotency(db)
    using hold = gate()
    const inside: string[] = []
    let runs = 0
    const calls = keys.map((key) =>
      beside(
        idempotency.withIdempotency(scope, key, one, async (tx, context) => {
          runs += 1
          // The whole table: in serializable, whoever writes it then is in the way of all others.
          await tx.selectFrom('notes').selectAll().execute()
          if (inside.push(key) === keys.length) hold.open()
          await hold.pass()
          return writeNote(tx, context)
        }),
      ),
    )
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
    deepStrictEqual(
      kinds,
      keys.map(() => 'executed'),
    )
    strictEqual(runs, keys.length)
    for (const key of keys) deepStrictEqual(await host.left(key), written)
  })
})
