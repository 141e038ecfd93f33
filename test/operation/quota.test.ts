import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { nothing, notesHost, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const quota = { limit: 2, windowMs: 3_600_000 }

describe('a quota', () => {
  const idempotency = createIdempotency(host.connect()).withOptions({ quota })
  const call = (actor: string, key: string, tenant = 't1') =>
    idempotency.withIdempotency({ ...scope, tenant, actor }, key, one, writeNote)

  it('bounds the new keys of an actor; replays do not count, and other actors have their own', async () => {
    strictEqual((await call('a', 'k1')).kind, 'executed')
    for (const _ of [1, 2, 3]) strictEqual((await call('a', 'k1')).kind, 'replayed')
    strictEqual((await call('a', 'k2')).kind, 'executed')
    const exceeded = await call('a', 'k3')
    strictEqual(exceeded.kind, 'quota_exceeded')
    ok(exceeded.retryAfterMs > 3_600_000 && exceeded.retryAfterMs <= 3_960_000)
    deepStrictEqual(await host.left('k3'), nothing)
    strictEqual((await call('a', 'k2')).kind, 'replayed')
    strictEqual((await call('b', 'k4')).kind, 'executed')
    strictEqual((await call('a', 'k5', 't2')).kind, 'executed')
  })

  it('slides: uses that leave the window make room', async () => {
    await call('s', 's1')
    await call('s', 's2')
    strictEqual((await call('s', 's3')).kind, 'quota_exceeded')
    const age = (interval: string) =>
      sql`update idem.quota_uses set bucket = bucket - ${interval}::interval where actor = 's'`.execute(
        database.watcher,
      )
    // A use counts for the window, and for a tenth of it, by which it is known.
    await age('59 minutes')
    strictEqual((await call('s', 's3')).kind, 'quota_exceeded')
    await age('8 minutes')
    strictEqual((await call('s', 's3')).kind, 'executed')
    strictEqual((await call('s', 's4')).kind, 'executed')
    strictEqual((await call('s', 's5')).kind, 'quota_exceeded')
  })

  it('counts nothing of a call that fails', async () => {
    for (const _ of [1, 2, 3]) {
      const failing = idempotency.withIdempotency({ ...scope, actor: 'f' }, 'f', one, () =>
        Promise.reject(new Error('no')),
      )
      await failing.catch(() => undefined)
    }
    strictEqual((await call('f', 'f1')).kind, 'executed')
  })

  it('does not make an actor wait for itself: two calls at once both run', async () => {
    using running = gate()
    const first = beside(
      idempotency.withIdempotency({ ...scope, actor: 'w' }, 'w1', one, async (tx, context) => {
        await running.pass()
        return writeNote(tx, context)
      }),
    )
    await running.reached
    strictEqual((await call('w', 'w2')).kind, 'executed')
    running.open()
    strictEqual((await first).kind, 'executed')
    strictEqual((await call('w', 'w3')).kind, 'quota_exceeded')
  })

  it('is another where its window is as long as no other, whatever purge has forgotten', async () => {
    const short = createIdempotency(host.connect()).withOptions({
      quota: { limit: 1, windowMs: 1_000 },
    })
    const of = { ...scope, actor: 'two' }
    strictEqual((await short.withIdempotency(of, 'x1', one, writeNote)).kind, 'executed')
    strictEqual((await short.withIdempotency(of, 'x2', one, writeNote)).kind, 'quota_exceeded')
    strictEqual((await call('two', 'x3')).kind, 'executed')
    strictEqual((await call('two', 'x4')).kind, 'executed')
    strictEqual((await call('two', 'x5')).kind, 'quota_exceeded')
  })

  it('is forgotten by purge when it does not count any more', async () => {
    await call('p', 'p1')
    const uses = async () =>
      (
        await database.watcher
          .selectFrom('quota_uses')
          .where('actor', '=', 'p')
          .select('uses')
          .execute()
      ).length
    await idempotency.purge()
    strictEqual(await uses(), 1)
    await sql`update idem.quota_uses set forget_at = now() where actor = 'p'`.execute(
      database.watcher,
    )
    await idempotency.purge()
    strictEqual(await uses(), 0)
  })
})
