import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { type Codec, createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { nothing, notesHost, one, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

async function storedUnder(key: string): Promise<Buffer | null | undefined> {
  const [row] = await database.watcher
    .selectFrom('records')
    .select('response')
    .where('key', '=', key)
    .execute()
  return row?.response
}

describe('replay', () => {
  const idempotency = createIdempotency(host.connect()).withOptions({
    replay: async (tx, { resource }) => {
      const query = tx.selectFrom('notes').select('body').where('key', '=', String(resource?.id))
      return { now: (await query.executeTakeFirstOrThrow()).body }
    },
  })
  const call = (key: string) =>
    idempotency.withIdempotency(scope, key, one, async (tx, context) => {
      context.resource({ type: 'note', id: key })
      return { token: `secret of ${await writeNote(tx, context)}` }
    })

  it('A30: makes the answer anew from what the record points to, and the response is not stored', async () => {
    const first = await call('k')
    deepStrictEqual(first, { ok: true, kind: 'executed', value: { token: 'secret of note' } })
    strictEqual((await storedUnder('k'))?.length, 0)
    deepStrictEqual(await call('k'), { ok: true, kind: 'replayed', value: { now: 'note' } })
    await sql`update public.notes set body = 'changed' where key = 'k'`.execute(database.watcher)
    deepStrictEqual(await call('k'), { ok: true, kind: 'replayed', value: { now: 'changed' } })
  })

  it('is needed for every replay of what it has left out: nothing is made up', async () => {
    await call('left-out')
    const plain = createIdempotency(host.connect())
    const missing = { code: 'response_not_stored' }
    await rejects(
      plain.withIdempotency(scope, 'left-out', one, () => 1),
      missing,
    )
    await rejects(plain.lookup(scope, 'left-out', one), missing)
    strictEqual((await idempotency.lookup(scope, 'left-out', one)).kind, 'replayed')
  })

  it('holds the record while it reads, so that nothing expires in between', async () => {
    using reading = gate()
    const plain = createIdempotency(host.connect({ application_name: 'expiring' }))
    const slow = createIdempotency(host.connect()).withOptions({
      replay: async () => {
        await reading.pass()
        return 'made'
      },
    })
    await slow.withIdempotency(scope, 'held', one, writeNote)
    const replaying = beside(slow.withIdempotency(scope, 'held', one, writeNote))
    await reading.reached
    const expiry = beside(plain.expire(scope, 'held'))
    await host.untilWaiting('expiring')
    reading.open()
    deepStrictEqual(await replaying, { ok: true, kind: 'replayed', value: 'made' })
    strictEqual(await expiry, true)
  })

  it('throws what it throws, and is not asked for a refusal or a tombstone', async () => {
    await call('gone')
    await sql`delete from public.notes where key = 'gone'`.execute(database.watcher)
    await rejects(call('gone'), /no result/)
    await idempotency.expire(scope, 'gone')
    strictEqual((await call('gone')).kind, 'expired')
    const refuse = () =>
      idempotency.withIdempotency(scope, 'refused', one, (_, context) => context.reject('no'))
    await refuse()
    deepStrictEqual(await refuse(), { ok: false, kind: 'rejected', refusal: 'no', replayed: true })
  })
})

/** Keeps a Date as it is, and leaves tokens out. */
const codec: Codec<'nothing'> = {
  keeps: 'nothing',
  encode: (value) =>
    Promise.resolve(
      Buffer.from(
        JSON.stringify(value, function (this: Record<string, unknown>, name, text: unknown) {
          if (name === 'token') return undefined
          return this[name] instanceof Date ? { $date: this[name].getTime() } : text
        }),
      ),
    ),
  decode: (bytes) =>
    JSON.parse(Buffer.from(bytes).toString(), (_, value: unknown) => {
      const { $date } = Object(value) as { $date?: number }
      return $date === undefined ? value : new Date($date)
    }) as unknown,
}

describe('a codec', () => {
  it('A30: writes and reads values and refusals; the first caller is given what a replay is', async () => {
    const idempotency = createIdempotency(host.connect()).withOptions({ codec })
    const call = (key: string) =>
      idempotency.withIdempotency(scope, key, one, (_, context) => {
        const value = { at: new Date(0), token: 'secret' }
        return key === 'coded-refused' ? context.reject(value) : value
      })
    for (const kind of ['executed', 'replayed']) {
      deepStrictEqual(await call('coded'), { ok: true, kind, value: { at: new Date(0) } })
    }
    strictEqual((await storedUnder('coded'))?.includes('secret'), false)
    for (const replayed of [false, true]) {
      const refusal = { at: new Date(0) }
      deepStrictEqual(await call('coded-refused'), {
        ok: false,
        kind: 'rejected',
        refusal,
        replayed,
      })
    }
    deepStrictEqual(await idempotency.lookup(scope, 'coded', one), {
      ok: true,
      kind: 'replayed',
      value: { at: new Date(0) },
    })
  })

  it('that fails, or gives no bytes, fails the call, and nothing is left of it', async () => {
    const boom = new Error('boom')
    const failing: Codec[] = [
      { keeps: 'types', encode: () => Promise.reject(boom), decode: () => 1 },
      { keeps: 'types', encode: () => 'text' as never, decode: () => 1 },
    ]
    for (const [index, broken] of failing.entries()) {
      const idempotency = createIdempotency(host.connect()).withOptions({ codec: broken })
      await rejects(
        idempotency.withIdempotency(scope, `broken-${index}`, one, writeNote),
        index === 0 ? boom : { code: 'invalid_options' },
      )
      deepStrictEqual(await host.left(`broken-${index}`), nothing)
    }
  })
})

describe('maxResponseBytes', () => {
  it('A15: is the last size that is stored; a byte more fails the call before anything is committed', async () => {
    const idempotency = createIdempotency(host.connect(), { maxResponseBytes: 10 })
    const call = (key: string, text: string, reject = false) =>
      idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        return reject ? context.reject(text) : text
      })
    strictEqual((await call('fits', '12345678')).kind, 'executed')
    strictEqual((await call('fits-refused', '12345678', true)).kind, 'rejected')
    const tooLarge = { code: 'response_too_large', message: /11 bytes, and maxResponseBytes is 10/ }
    await rejects(call('large', '123456789'), tooLarge)
    await rejects(call('large', '123456789', true), tooLarge)
    deepStrictEqual(await host.left('large'), nothing)
    strictEqual((await call('large', 'x')).kind, 'executed')
  })
})
