import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { nothing, notesHost, one, other, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const idempotency = createIdempotency(host.connect(), { lockTimeoutMs: 50 })

describe('lookup', () => {
  it('tells what is committed, and executes nothing', async () => {
    await idempotency.withIdempotency(scope, 'done', one, writeNote)
    await idempotency.withIdempotency(scope, 'no', one, (_, { reject }) => reject('no'))
    deepStrictEqual(await idempotency.lookup(scope, 'done', one), {
      ok: true,
      kind: 'replayed',
      value: 'note',
    })
    deepStrictEqual(await idempotency.lookup(scope, 'no', one), {
      ok: false,
      kind: 'rejected',
      refusal: 'no',
      replayed: true,
    })
    strictEqual((await idempotency.lookup(scope, 'done', other)).kind, 'conflict')
    strictEqual((await idempotency.lookup(scope, 'done', [other, one])).kind, 'replayed')
    await idempotency.expire(scope, 'done')
    strictEqual((await idempotency.lookup(scope, 'done', one)).kind, 'expired')
  })

  it('tells absent from in progress, and leaves no trace of having looked', async () => {
    using running = gate()
    deepStrictEqual(await idempotency.lookup(scope, 'k', one), { ok: false, kind: 'absent' })
    deepStrictEqual(await host.left('k'), nothing)
    const call = beside(
      createIdempotency(host.connect()).withIdempotency(scope, 'k', one, async (tx, context) => {
        await running.pass()
        return writeNote(tx, context)
      }),
    )
    await running.reached
    deepStrictEqual(await idempotency.lookup(scope, 'k', one), {
      ok: false,
      kind: 'in_progress',
      retryAfterMs: 1_000,
      sqlState: '55P03',
    })
    running.open()
    strictEqual((await call).kind, 'executed')
    strictEqual((await idempotency.lookup(scope, 'k', one)).kind, 'replayed')
  })

  it('tells whoever has scope and key, where the parameters are gone', async () => {
    deepStrictEqual(await idempotency.lookup(scope, 'any', 'any'), { ok: false, kind: 'absent' })
    await idempotency.withIdempotency(scope, 'any', other, writeNote)
    strictEqual((await idempotency.lookup(scope, 'any', 'any')).kind, 'replayed')
    await idempotency.expire(scope, 'any')
    strictEqual((await idempotency.lookup(scope, 'any', 'any')).kind, 'expired')
  })

  it('refuses what withIdempotency refuses', async () => {
    await rejects(idempotency.lookup(scope, '', one), { code: 'invalid_key' })
    await rejects(idempotency.lookup({ ...scope, actor: '' }, 'k', one), { code: 'invalid_scope' })
    await rejects(idempotency.lookup(scope, 'k', {} as never), { code: 'invalid_fingerprint' })
    await rejects(idempotency.lookup(scope, 'k', one, { deadlineMs: 0 }), {
      code: 'invalid_options',
    })
  })
})

describe('erase', () => {
  it('takes response and resource of a person, and leaves tombstones that no retry opens', async () => {
    const make = (actor: string, key: string, tenant = 'e1') =>
      idempotency.withIdempotency({ ...scope, tenant, actor }, key, one, (_, context) => {
        context.resource({ type: 'person', id: actor })
        return { name: actor }
      })
    for (const [actor, key] of [
      ['p', '1'],
      ['p', '2'],
      ['q', '3'],
    ] as const)
      await make(actor, key)
    await make('p', '4', 'e2')
    await idempotency.expire({ ...scope, tenant: 'e1', actor: 'p' }, '2')

    strictEqual(await idempotency.erase({ tenant: 'e1', actor: 'p' }), 2)
    deepStrictEqual(await make('p', '1'), { ok: false, kind: 'expired' })
    deepStrictEqual(await make('p', '2'), { ok: false, kind: 'expired' })
    strictEqual((await make('q', '3')).kind, 'replayed')
    strictEqual(await idempotency.erase({ tenant: 'e1', actor: 'p' }), 0)
    strictEqual(await idempotency.erase({ tenant: 'e1' }), 1)
    strictEqual((await make('p', '4', 'e2')).kind, 'replayed')
  })

  it('leaves the clock of a tombstone that was there', async () => {
    const of = { ...scope, tenant: 'clock' }
    await idempotency.withIdempotency(of, 'c', one, (_, context) => {
      context.resource({ type: 'person', id: '1' })
    })
    await idempotency.expire(of, 'c')
    await sql`update idem.records set expired_at = '2020-01-01' where key = 'c'`.execute(
      database.watcher,
    )
    strictEqual(await idempotency.erase({ tenant: 'clock' }), 1)
    const { rows } = await sql`select expired_at::text as at from idem.records where key = 'c'
      and expired_at < '2020-01-03'`.execute(database.watcher)
    strictEqual(rows.length, 1)
  })

  it('goes on batch by batch', async () => {
    await sql`insert into idem.records (tenant, actor, operation, key, attempt, state,
        fingerprint_algorithm, fingerprint_version, fingerprint, response, claimed, completed_at, replay_until)
      select 'many', 'a', 'o', n::text, gen_random_uuid(), 'completed',
        'sha256', 1, sha256(''), '1', null, now(), now() from generate_series(1, 2500) n`.execute(
      database.watcher,
    )
    strictEqual(await idempotency.erase({ tenant: 'many' }), 2_500)
  })

  it('wants to know of whom', async () => {
    const unset = { tenant: 't', actor: undefined }
    for (const whose of [{}, { tenant: '' }, { tenant: 't', actor: '' }, unset] as {
      tenant: string
    }[]) {
      await rejects(idempotency.erase(whose), { code: 'invalid_scope' })
    }
    await rejects(idempotency.erase({ tenant: 't', user: 'u' } as { tenant: string }), {
      code: 'invalid_options',
    })
  })
})
