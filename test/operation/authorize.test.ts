import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type RecordView } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { nothing, notesHost, one, other, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

describe('authorize', () => {
  it('is asked before every replay, of a refusal and of a tombstone too, and not before a first call', async () => {
    const seen: RecordView[] = []
    let allowed = true
    const plain = createIdempotency(host.connect())
    const guarded = plain.withOptions({
      authorize: (_, record) => {
        seen.push(record)
        return allowed
      },
    })
    const resource = { type: 'note', id: '1' }
    const call = (key: string) =>
      guarded.withIdempotency(scope, key, one, async (tx, context) => {
        if (key === 'r') return context.reject({ no: 1 })
        context.resource(resource)
        return writeNote(tx, context)
      })
    strictEqual((await call('k')).kind, 'executed')
    strictEqual((await call('r')).kind, 'rejected')
    strictEqual(seen.length, 0)

    strictEqual((await call('k')).kind, 'replayed')
    strictEqual((await call('r')).kind, 'rejected')
    await plain.expire(scope, 'k')
    deepStrictEqual(await call('k'), { ok: false, kind: 'expired', resource })
    deepStrictEqual(
      seen.map(({ state, key, resource: of }) => [state, key, of]),
      [
        ['completed', 'k', resource],
        ['rejected', 'r', undefined],
        ['expired', 'k', resource],
      ],
    )
    deepStrictEqual(seen[0]?.scope, scope)
    strictEqual(Math.abs(Number(seen[0].createdAt) - Date.now()) < 60_000, true)

    allowed = false
    deepStrictEqual(await call('k'), { ok: false, kind: 'denied' })
    deepStrictEqual(await call('r'), { ok: false, kind: 'denied' })
    strictEqual((await guarded.lookup(scope, 'r', one)).kind, 'denied')
  })

  it('is not asked where the fingerprint is another: a conflict says nothing', async () => {
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: () => {
        throw new Error('asked')
      },
    })
    await guarded.withIdempotency(scope, 'c', one, () => 1)
    strictEqual((await guarded.withIdempotency(scope, 'c', other, () => 1)).kind, 'conflict')
  })

  for (const answer of [undefined, 1, 'yes', null, {}]) {
    it(`takes nothing but true for a yes: ${JSON.stringify(answer)}`, async () => {
      const guarded = createIdempotency(host.connect()).withOptions({
        authorize: () => answer as boolean,
      })
      const key = `yes-${JSON.stringify(answer)}`
      await guarded.withIdempotency(scope, key, one, () => 1)
      strictEqual((await guarded.withIdempotency(scope, key, one, () => 1)).kind, 'denied')
    })
  }

  it('sees a right that was revoked between first call and replay, in its own statements', async () => {
    await sql`create table public.rights (actor text)`.execute(database.watcher)
    await sql`insert into public.rights values ('u1')`.execute(database.watcher)
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: async (tx, record) => {
        const { rows } = await sql`select from rights where actor = ${record.scope.actor}`.execute(
          tx,
        )
        return rows.length === 1
      },
    })
    const call = () => guarded.withIdempotency(scope, 'revoked', one, () => 'secret')
    strictEqual((await call()).kind, 'executed')
    strictEqual((await call()).kind, 'replayed')
    await sql`delete from public.rights`.execute(database.watcher)
    deepStrictEqual(await call(), { ok: false, kind: 'denied' })
  })

  it('holds the record while it decides, so that nothing expires in between', async () => {
    using deciding = gate()
    const plain = createIdempotency(host.connect({ application_name: 'expiring' }))
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: async () => {
        await deciding.pass()
        return true
      },
    })
    await guarded.withIdempotency(scope, 'held', one, () => 'kept')
    const replay = beside(guarded.withIdempotency(scope, 'held', one, () => 1))
    await deciding.reached
    const expiry = beside(plain.expire(scope, 'held'))
    await host.untilWaiting('expiring')
    deciding.open()
    deepStrictEqual(await replay, { ok: true, kind: 'replayed', value: 'kept' })
    strictEqual(await expiry, true)
  })

  it("waits for the host's own locks under the host's own bound, and fails with what it swallowed", async () => {
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: async (tx) => {
        const { rows } = await sql<{
          lock: string
        }>`select current_setting('lock_timeout') as lock`.execute(tx)
        strictEqual(rows[0]?.lock, '0')
        await sql`select 1 / 0`.execute(tx).catch(() => undefined)
        return true
      },
    })
    const call = () => guarded.withIdempotency(scope, 'bound', one, () => 1)
    await call()
    await rejects(call(), { code: '22012' })
    await rejects(guarded.lookup(scope, 'bound', one), { code: '22012' })
  })

  it('is not taken for the business: a constraint that it violates is no duplicate', async () => {
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: async (tx) => {
        await tx.insertInto('notes').values({ key: 'own', body: 'note' }).execute()
        return true
      },
      businessIdentity: { constraint: 'notes_pkey', resolve: () => ({ disposition: 'manual' }) },
    })
    const call = () => guarded.withIdempotency(scope, 'own', one, writeNote)
    await call()
    await rejects(call(), { code: '23505' })
  })

  it('is told in progress by lookup, too, where somebody changes the record', async () => {
    const guarded = createIdempotency(host.connect(), { lockTimeoutMs: 50 }).withOptions({
      authorize: () => true,
    })
    await guarded.withIdempotency(scope, 'changing', one, () => 1)
    await database.watcher.transaction().execute(async (trx) => {
      await sql`select from idem.records where key = 'changing' for update`.execute(trx)
      strictEqual((await guarded.lookup(scope, 'changing', one)).kind, 'in_progress')
    })
  })

  it('leaves no trace of what it writes, and throws what it throws', async () => {
    const boom = new Error('boom')
    let throws = false
    const guarded = createIdempotency(host.connect()).withOptions({
      authorize: async (tx) => {
        await tx.insertInto('notes').values({ key: 'trace', body: 'x' }).execute()
        if (throws) throw boom
        return true
      },
    })
    await guarded.withIdempotency(scope, 'trace-call', one, () => 1)
    strictEqual((await guarded.withIdempotency(scope, 'trace-call', one, () => 1)).kind, 'replayed')
    throws = true
    await rejects(
      guarded.withIdempotency(scope, 'trace-call', one, () => 1),
      boom,
    )
    deepStrictEqual(await host.left('trace'), nothing)
  })
})
