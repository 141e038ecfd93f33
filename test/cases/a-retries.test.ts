import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  notesHost,
  nothing,
  one,
  other,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const admin = host.connect()
const options = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs: PATIENCE_MS }
const idempotency = createIdempotency(host.connect(), options)
const retry = (key: string, print = one) =>
  idempotency.withIdempotency(scope, key, print, writeNote)

describe('the client hangs up', () => {
  it('A22: and nobody waits for the answer: it is stored all the same, and replayed', async () => {
    using running = gate()
    const client = new AbortController()
    const call = beside(
      idempotency.withIdempotency(scope, 'hung up', one, async (tx, context) => {
        await running.pass()
        return writeNote(tx, context)
      }),
    )
    await stopsAt(running, call)
    const gone = new Promise((_, reject) => {
      client.signal.addEventListener('abort', () => {
        reject(client.signal.reason as Error)
      })
    })
    const answer = failureOf(Promise.race([call, gone]))
    const reason = new Error('hung up')
    client.abort(reason)
    strictEqual(await answer, reason)
    deepStrictEqual(await host.left('hung up'), nothing)
    running.open()
    deepStrictEqual(await retry('hung up'), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await host.left('hung up'), written)
  })

  it('A22: when COMMIT is on its way, by the signal of the call: unknown, and then replayed', async () => {
    await sql`
      create function public.wait_for_lock() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
      create constraint trigger slow_commit after insert on idem.outbox
        deferrable initially deferred for each row when (new.aggregateid = 'committing')
        execute function public.wait_for_lock()`.execute(admin)
    const client = new AbortController()
    const slow = createIdempotency(host.connect({ application_name: 'committing' }), options)
    await admin.transaction().execute(async (inTheWay) => {
      await sql`select pg_advisory_xact_lock(1)`.execute(inTheWay)
      const call = beside(
        slow.withIdempotency(scope, 'committing', one, writeNote, { signal: client.signal }),
      )
      await host.untilWaiting('committing')
      client.abort(new Error('hung up'))
      strictEqual((await call).kind, 'unknown')
    })
    deepStrictEqual(await retry('committing'), { ok: true, kind: 'replayed', value: 'note' })
    deepStrictEqual(await host.left('committing'), written)
  })
})

describe('a late retry', () => {
  for (const [when, seconds, swept, kind] of [
    ['before the end of the window', 60, false, 'replayed'],
    ['before the end of the window, behind a sweep', 60, true, 'replayed'],
    ['past the window, which nobody has swept', -1, false, 'expired'],
    ['past the window, behind a sweep', -1, true, 'expired'],
  ] as const) {
    it(`A31: ${when}: ${kind}, and nothing runs`, async () => {
      strictEqual((await retry(when)).kind, 'executed')
      const until = sql<Date>`clock_timestamp() + ${seconds}::float8 * interval '1 second'`
      const records = database.watcher.updateTable('records').set({ replay_until: until })
      await records.where('key', '=', when).execute()
      if (swept) await idempotency.sweep()
      strictEqual((await retry(when)).kind, kind)
      deepStrictEqual(await retry(when, other), { ok: false, kind: 'conflict' })
      const { notes, events } = await host.left(when)
      deepStrictEqual({ notes, events }, { notes: ['note'], events: ['note.written'] })
    })
  }
})

describe('a payment in the function, and a transaction that fails behind it', () => {
  for (const code of ['40001', '40P01']) {
    /** Fails so often behind the charge; what the provider was asked for. */
    const charging = (key: string, failures: number, attempts: number) => {
      const asked: string[] = []
      const by = idempotency.withOptions({ retry: { attempts } })
      const fail = sql.raw(`do $$ begin raise exception 'x' using errcode = '${code}'; end $$`)
      const call = () =>
        by.withIdempotency(scope, key, one, async (tx, context) => {
          asked.push(context.childKey('charge'))
          if (asked.length <= failures) await fail.execute(tx)
          return writeNote(tx, context)
        })
      return { call, asked }
    }

    it(`A33: ${code}: one charge, unless the caller asks again`, async () => {
      const { call, asked } = charging(`once ${code}`, 1, 1)
      await rejects(call(), { code })
      strictEqual(asked.length, 1)
      deepStrictEqual(await host.left(`once ${code}`), nothing)
      strictEqual((await call()).kind, 'executed')
      strictEqual(new Set(asked).size, 1)
    })

    it(`A33: ${code}: with retry, every run asks under the same key downstream`, async () => {
      const { call, asked } = charging(`thrice ${code}`, 2, 3)
      deepStrictEqual(await call(), { ok: true, kind: 'executed', value: 'note' })
      strictEqual(asked.length, 3)
      strictEqual(new Set(asked).size, 1)
      deepStrictEqual(await host.left(`thrice ${code}`), written)
    })
  }
})
