import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, one, other, PATIENCE_MS, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const db = host.connect()
const idempotency = createIdempotency(db)

/** Of a call whose refusal was stored. */
const refused = { notes: [], records: ['rejected'], events: [] }

/** Writes a note and an event, then refuses. */
function refusing<Refusal>(key: string, refusal: Refusal, by = idempotency, print = one) {
  return by.withIdempotency(scope, key, print, async (tx, context) => {
    context.resource({ type: 'note', id: 'note' })
    await writeNote(tx, context)
    return context.reject(refusal)
  })
}

describe('a rejection', () => {
  it('A12, A28: undoes writes and events, is stored, and is replayed as such', async () => {
    const refusal = { code: 'credit_limit', missing: 12 }
    deepStrictEqual(await refusing('limit', refusal), {
      ok: false,
      kind: 'rejected',
      refusal,
      replayed: false,
    })
    deepStrictEqual(await host.left('limit'), refused)
    deepStrictEqual(await refusing('limit', 'another answer'), {
      ok: false,
      kind: 'rejected',
      refusal,
      replayed: true,
    })
    deepStrictEqual(await host.left('limit'), refused)
  })

  it('A12: stands when the business has changed since', async () => {
    const book = (key: string, seat: string) =>
      idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        const { numDeletedRows } = await tx
          .deleteFrom('notes')
          .where('body', '=', seat)
          .executeTakeFirstOrThrow()
        return numDeletedRows === 1n ? { seat } : context.reject('sold out')
      })
    strictEqual((await book('booking', 'seat 7')).kind, 'rejected')
    await db.insertInto('notes').values({ key: 'seats', body: 'seat 7' }).execute()
    deepStrictEqual(await book('booking', 'seat 7'), {
      ok: false,
      kind: 'rejected',
      refusal: 'sold out',
      replayed: true,
    })
    strictEqual((await book('another booking', 'seat 7')).kind, 'executed')
  })

  it('is given in its stored form, first and replayed alike', async () => {
    for (const [name, given, stored] of [
      ['undefined', undefined, undefined],
      ['null', null, null],
      ['false', false, false],
      ['empty', '', ''],
      ['date', { at: new Date(0), gone: undefined }, { at: '1970-01-01T00:00:00.000Z' }],
    ] as const) {
      for (const replayed of [false, true]) {
        deepStrictEqual(await refusing(name, given), {
          ok: false,
          kind: 'rejected',
          refusal: stored,
          replayed,
        })
      }
    }
  })

  it('conflicts with another fingerprint, and tells it nothing', async () => {
    await refusing('conflict', { secret: 1 })
    const result = await refusing('conflict', 'never', idempotency, other)
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })

  it('is past its window like any response, whether or not it was cleared', async () => {
    await refusing('past', 'no')
    await database.watcher
      .updateTable('records')
      .set({ replay_until: new Date(0) })
      .where('key', '=', 'past')
      .execute()
    for (const cleared of [true, false]) {
      const result = await refusing('past', 'never')
      deepStrictEqual([result.ok, result.kind], [false, 'expired'])
      strictEqual(await idempotency.expire(scope, 'past'), cleared)
    }
    deepStrictEqual((await host.left('past')).records, ['expired'])
  })

  it('undoes statements that were left behind, too', async () => {
    const result = await idempotency.withIdempotency(scope, 'behind', one, (tx, context) => {
      void tx.insertInto('notes').values({ key: 'behind', body: 'late' }).execute()
      return context.reject('no')
    })
    strictEqual(result.kind, 'rejected')
    deepStrictEqual(await host.left('behind'), refused)
  })

  it('of the first is what a waiting twin is told', async () => {
    using hold = gate()
    const holder = beside(
      idempotency.withIdempotency(scope, 'twins', one, async (_, context) => {
        await hold.pass()
        return context.reject('no')
      }),
    )
    await stopsAt(hold, holder)
    const patient = createIdempotency(host.connect({ application_name: 'twin' }), {
      lockTimeoutMs: PATIENCE_MS,
    })
    const waiter = beside(refusing('twins', 'never', patient))
    await host.untilWaiting('twin')
    hold.open()
    const told = { ok: false, kind: 'rejected', refusal: 'no' }
    deepStrictEqual(await holder, { ...told, replayed: false })
    deepStrictEqual(await waiter, { ...told, replayed: true })
  })
})
