import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'
import { createSink } from 'oncely/sink'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  other,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { pgBouncer } from '../support/pgbouncer.ts'
import { backendOf, openBackends, through } from './clients.ts'

const database = testDatabase()
const host = notesHost(database)

for (const poolSize of [1, 4]) {
  const pooler = pgBouncer(database.url, { poolSize })
  let db: Kysely<NotesDatabase>
  const call = (key: string, print = one) =>
    createIdempotency(db).withIdempotency(scope, key, print, writeNote)

  describe(`one client, and a server pool of ${poolSize}`, { timeout: 60_000 }, () => {
    const named = (what: string) => `${what} (${poolSize})`

    before(async () => {
      await openBackends(pooler, database, poolSize)
      db = through(pooler, host, { max: 1 })
    })

    it(named('C13: its transactions take turns on all server connections'), async () => {
      const backends = new Set<number>()
      for (let turn = 0; turn < poolSize; turn += 1) {
        const result = await createIdempotency(db).withIdempotency(
          scope,
          named(`turn ${turn}`),
          one,
          backendOf,
        )
        backends.add(result.ok ? result.value : 0)
      }
      strictEqual(backends.size, poolSize)
    })

    it(named('C13: executed, replayed, conflict, expired'), async () => {
      const key = named('executed')
      deepStrictEqual(await call(key), { ok: true, kind: 'executed', value: 'note' })
      for (let turn = 0; turn < poolSize; turn += 1) {
        deepStrictEqual(await call(key), { ok: true, kind: 'replayed', value: 'note' })
        deepStrictEqual(await call(key, other), { ok: false, kind: 'conflict' })
      }
      deepStrictEqual(await host.left(key), written)
      strictEqual(await createIdempotency(db).expire(scope, key), true)
      deepStrictEqual(await call(key), { ok: false, kind: 'expired' })
      deepStrictEqual(await call(key, other), { ok: false, kind: 'conflict' })
    })

    it(named('C13: rejected, and told so again'), async () => {
      const key = named('rejected')
      for (const replayed of [false, true]) {
        const result = await createIdempotency(db).withIdempotency(
          scope,
          key,
          one,
          async (tx, context) => {
            await writeNote(tx, context)
            return context.reject({ code: 'credit_limit' })
          },
        )
        deepStrictEqual(result, {
          ok: false,
          kind: 'rejected',
          refusal: { code: 'credit_limit' },
          replayed,
        })
      }
      deepStrictEqual(await host.left(key), { ...nothing, records: ['rejected'] })
    })

    it(named('C13: thrown, and executed behind it'), async () => {
      const key = named('thrown')
      const failing = createIdempotency(db).withIdempotency(scope, key, one, (tx) =>
        sql`select 1 / 0`.execute(tx),
      )
      strictEqual(((await failureOf(failing)) as { code: string }).code, '22012')
      deepStrictEqual(await host.left(key), nothing)
      strictEqual((await call(key)).kind, 'executed')
      deepStrictEqual(await host.left(key), written)
    })

    it(named('C13: in_progress, and a replay behind it'), async () => {
      const key = named('in_progress')
      using hold = gate()
      // On a connection of its own: the pooler may have no second one.
      const direct = createIdempotency(host.connect())
      const holder = beside(
        direct.withIdempotency(scope, key, one, async (tx, context) => {
          await hold.pass()
          return writeNote(tx, context)
        }),
      )
      await stopsAt(hold, holder)
      strictEqual((await call(key)).kind, 'in_progress')
      hold.open()
      await holder
      strictEqual((await call(key)).kind, 'replayed')
      deepStrictEqual(await host.left(key), written)
    })

    it(named('C13: an event, applied once by the sink however often it is delivered'), async () => {
      const key = named('event')
      await call(key)
      const { id } = await database.watcher
        .selectFrom('outbox')
        .select('id')
        .where('aggregateid', '=', key)
        .executeTakeFirstOrThrow()
      const sink = createSink(db, { consumer: 'notes' })
      const deliver = () =>
        sink.receive({ id }, (tx) =>
          tx.insertInto('notes').values({ key, body: 'applied' }).execute(),
        )
      const kinds: string[] = []
      for (let turn = 0; turn <= poolSize; turn += 1) kinds.push((await deliver()).kind)
      deepStrictEqual(kinds, ['applied', ...Array.from({ length: poolSize }, () => 'duplicate')])
      deepStrictEqual((await host.left(key)).notes, ['note', 'applied'])
    })
  })
}
