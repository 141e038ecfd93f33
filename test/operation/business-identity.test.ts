import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type Resolution } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { nothing, notesHost, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

/** `notes_pkey` is the business's own rule: a body once a key column, which the tests share. */
function identifying(resolve: () => Promise<Resolution<unknown> | undefined>) {
  const db = host.connect()
  return createIdempotency(db).withOptions({
    businessIdentity: { constraint: 'notes_pkey', resolve },
  })
}

describe('businessIdentity', () => {
  const writeShared = (idempotency: ReturnType<typeof identifying>, key: string) =>
    idempotency.withIdempotency(scope, key, one, async (tx, context) => {
      await tx.insertInto('notes').values({ key: 'shared', body: 'order' }).execute()
      context.emit({ type: 't', aggregateType: 'a', aggregateId: key, payload: 1 })
      return 'placed'
    })

  it('tells of the object under another key, as the resolver says, and the new key is not used', async () => {
    let resolution: Resolution<unknown> = { disposition: 'replay', value: { order: 'first' } }
    const idempotency = identifying(() => Promise.resolve(resolution))
    strictEqual((await writeShared(idempotency, 'k1')).kind, 'executed')
    const duplicate = { ok: false, kind: 'duplicate' }
    deepStrictEqual(await writeShared(idempotency, 'k2'), { ...duplicate, ...resolution })
    for (const disposition of ['conflict', 'manual'] as const) {
      resolution = { disposition }
      deepStrictEqual(await writeShared(idempotency, 'k2'), { ...duplicate, disposition })
    }
    deepStrictEqual(await host.left('k2'), nothing)
  })

  it('reads in a fresh transaction, whose writes are undone', async () => {
    const seen: unknown[] = []
    const idempotency = createIdempotency(host.connect()).withOptions({
      businessIdentity: {
        constraint: 'notes_pkey',
        resolve: async (tx, { key, scope: of, error }) => {
          await tx.insertInto('notes').values({ key: 'trace', body: 'x' }).execute()
          const row = await tx
            .selectFrom('notes')
            .select('body')
            .where('key', '=', 'fresh')
            .executeTakeFirst()
          seen.push(key, of, (error as { code: string }).code)
          return row && { disposition: 'replay', value: row.body }
        },
      },
    })
    const call = (key: string) =>
      idempotency.withIdempotency(scope, key, one, async (tx) => {
        await tx.insertInto('notes').values({ key: 'fresh', body: 'there' }).execute()
      })
    await call('f1')
    deepStrictEqual(await call('f2'), {
      ok: false,
      kind: 'duplicate',
      disposition: 'replay',
      value: 'there',
    })
    deepStrictEqual(seen, ['f2', scope, '23505'])
    deepStrictEqual(await host.left('trace'), nothing)
  })

  it('leaves the violation as it is where the object is gone again, and runs nothing again', async () => {
    let ran = 0
    const idempotency = identifying(() => Promise.resolve(undefined))
    await idempotency.withIdempotency(scope, 'g1', one, (tx, context) =>
      writeNote(tx, context, 'g'),
    )
    const violation = failureOf(
      idempotency.withIdempotency(scope, 'g2', one, async (tx) => {
        ran += 1
        await tx.insertInto('notes').values({ key: 'g1', body: 'g' }).execute()
      }),
    )
    strictEqual(((await violation) as { constraint: string }).constraint, 'notes_pkey')
    strictEqual(ran, 1)
  })

  it('leaves any other violation, and any other error, as it is', async () => {
    await sql`create table public.others (id int constraint others_pkey primary key)`.execute(
      database.watcher,
    )
    await sql`insert into public.others values (1)`.execute(database.watcher)
    const idempotency = identifying(() => Promise.reject(new Error('asked')))
    await rejects(
      idempotency.withIdempotency(scope, 'o', one, async (tx) => {
        await sql`insert into others values (1)`.execute(tx)
      }),
      { constraint: 'others_pkey' },
    )
    const boom = new Error('boom')
    await rejects(
      idempotency.withIdempotency(scope, 'o', one, () => Promise.reject(boom)),
      boom,
    )
  })

  it('hears of a violation that is found at COMMIT', async () => {
    await sql`create table public.late (id int, constraint late_key unique (id) deferrable initially deferred)`.execute(
      database.watcher,
    )
    await sql`insert into public.late values (1)`.execute(database.watcher)
    const idempotency = createIdempotency(host.connect()).withOptions({
      businessIdentity: {
        constraint: 'late_key',
        resolve: () => ({ disposition: 'conflict' as const }),
      },
    })
    const call = idempotency.withIdempotency(scope, 'late', one, async (tx) => {
      await sql`insert into late values (1)`.execute(tx)
    })
    deepStrictEqual(await call, { ok: false, kind: 'duplicate', disposition: 'conflict' })
  })

  it('refuses what is no resolution', async () => {
    const idempotency = identifying(() => Promise.resolve({ disposition: 'maybe' } as never))
    await writeShared(idempotency, 'again').catch(() => undefined)
    await rejects(writeShared(idempotency, 'again'), { code: 'invalid_options' })
  })
})
