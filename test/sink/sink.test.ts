import { deepStrictEqual, match, rejects, strictEqual, throws } from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'

import { sql } from 'kysely'
import { createSink, type Sink } from 'oncely/sink'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { untilWaiting } from '../support/waiting.ts'

/** The receiver's own table, which knows no constraint that would hide a second application. */
interface ReceiverDatabase {
  parcels: { event_id: string }
}

const database = testDatabase()
const receiver = (name: string) =>
  database.connect<ReceiverDatabase>({ schema: null, application_name: name })
const db = receiver('receiver')
const sink = createSink(db, { consumer: 'shipping' })

const send = (to: Sink<ReceiverDatabase>, id: string, pass = () => Promise.resolve()) =>
  to.receive({ id }, async (tx) => {
    await tx.insertInto('parcels').values({ event_id: id }).execute()
    await pass()
    return `parcel for ${id}`
  })

const parcels = async () => (await db.selectFrom('parcels').selectAll().execute()).length
const noted = () =>
  database.watcher.selectFrom('sink').select(['consumer', 'event_id']).orderBy('consumer').execute()

describe('a sink', { timeout: 30_000 }, () => {
  before(() => sql`create table public.parcels (event_id text not null)`.execute(database.watcher))
  beforeEach(() => sql`truncate public.parcels, idem.sink`.execute(database.watcher))

  it('applies an event once, whatever the number of deliveries', async () => {
    deepStrictEqual(await send(sink, 'e1'), { kind: 'applied', value: 'parcel for e1', missing: 0 })
    deepStrictEqual(await send(sink, 'e1'), { kind: 'duplicate' })
    deepStrictEqual(await send(sink, 'e1'), { kind: 'duplicate' })
    deepStrictEqual(await send(sink, 'e2'), { kind: 'applied', value: 'parcel for e2', missing: 0 })
    strictEqual(await parcels(), 2)
  })

  it('keeps consumers independent of each other', async () => {
    const billing = createSink(db, { consumer: 'billing' })
    strictEqual((await send(sink, 'e1')).kind, 'applied')
    strictEqual((await send(billing, 'e1')).kind, 'applied')
    strictEqual((await send(billing, 'e1')).kind, 'duplicate')
    deepStrictEqual(await noted(), [
      { consumer: 'billing', event_id: 'e1' },
      { consumer: 'shipping', event_id: 'e1' },
    ])
    strictEqual(await parcels(), 2)
  })

  it('E17: keeps nothing of a function that throws; the event can be delivered again', async () => {
    const failure = new Error('no parcel left')
    const failing = send(sink, 'e1', () => Promise.reject(failure))
    strictEqual(await failing.catch((error: unknown) => error), failure)
    deepStrictEqual([await parcels(), await noted()], [0, []])
    strictEqual((await send(sink, 'e1')).kind, 'applied')
    strictEqual(await parcels(), 1)
  })

  it('refuses what is no sink, no event and no function, before anything is written', async () => {
    for (const options of [undefined, null, 5, { consumer: 'c', consumers: 'd' }] as never[]) {
      throws(() => createSink(database.watcher, options), { code: 'invalid_options' })
    }
    for (const db of [undefined, {}] as never[]) {
      throws(() => createSink(db, { consumer: 'c' }), { code: 'invalid_options' })
    }
    for (const event of [undefined, null, {}, 'e1'] as never[]) {
      await rejects(
        sink.receive(event, () => 1),
        { code: 'invalid_event' },
      )
    }
    await rejects(sink.receive({ id: 'e1' }, undefined as never), { code: 'invalid_function' })
  })

  it('does not count an event as applied when a statement failed and the error was swallowed', async () => {
    const swallowing = sink.receive({ id: 'e1' }, async (tx) => {
      await tx.insertInto('parcels').values({ event_id: 'e1' }).execute()
      await sql`select 1 / 0`.execute(tx).catch(() => undefined)
    })
    await rejects(swallowing, { code: '22012' })
    deepStrictEqual([await parcels(), await noted()], [0, []])
    strictEqual((await send(sink, 'e1')).kind, 'applied')
  })

  it('lets a second delivery wait for the first, and calls it a duplicate once that commits', async () => {
    const other = createSink(receiver('twin'), { consumer: 'shipping' })
    using hold = gate()
    const first = send(sink, 'e1', hold.pass)
    await hold.reached
    const second = send(other, 'e1')
    await untilWaiting(database.watcher as never, 'twin')
    hold.open()
    deepStrictEqual([(await first).kind, (await second).kind], ['applied', 'duplicate'])
    strictEqual(await parcels(), 1)
  })

  it('lets a second delivery apply the event when the first one rolls back', async () => {
    const other = createSink(receiver('heir'), { consumer: 'shipping' })
    using hold = gate()
    const first = send(sink, 'e1', async () => {
      await hold.pass()
      throw new Error('no parcel left')
    }).catch((error: unknown) => (error as Error).message)
    await hold.reached
    const second = send(other, 'e1')
    await untilWaiting(database.watcher as never, 'heir')
    hold.open()
    strictEqual(await first, 'no parcel left')
    strictEqual((await second).kind, 'applied')
    strictEqual(await parcels(), 1)
  })

  it('applies once when thirty deliveries come at the same time', async () => {
    const receipts = await Promise.all(Array.from({ length: 30 }, () => send(sink, 'e1')))
    strictEqual(receipts.filter(({ kind }) => kind === 'applied').length, 1)
    strictEqual(receipts.filter(({ kind }) => kind === 'duplicate').length, 29)
    strictEqual(await parcels(), 1)
  })

  it('waits for statements that the function left behind, and for how they end', async () => {
    const left = sink.receive({ id: 'e1' }, (tx) => {
      const parcel = tx.insertInto('parcels').values({ event_id: 'e1' })
      void Promise.allSettled([parcel.execute(), parcel.execute(), sql`select 1 / 0`.execute(tx)])
    })
    await rejects(left)
    deepStrictEqual([await parcels(), await noted()], [0, []])
  })

  it('takes an id of 255 octets, and refuses any other that PostgreSQL would not keep', async () => {
    strictEqual((await send(sink, 'x'.repeat(255))).kind, 'applied')
    let ran = false
    for (const id of ['', 'x'.repeat(256), 'é'.repeat(128), 'a\0b', '\ud800', 7, undefined]) {
      const delivery = sink.receive({ id: id as string }, () => {
        ran = true
      })
      await rejects(delivery, { code: 'invalid_event' }, JSON.stringify(id))
    }
    strictEqual(ran, false)
  })

  it('refuses a consumer or a schema that PostgreSQL would not keep, when it is made', () => {
    const invalid = { code: 'invalid_options' }
    for (const consumer of ['', 'x'.repeat(201), 'é'.repeat(101), 'a\0b', '\udc00', 7, undefined]) {
      throws(() => createSink(db, { consumer: consumer as string }), invalid)
    }
    for (const schema of ['', 'x'.repeat(64), 'a\0b', 7]) {
      throws(() => createSink(db, { consumer: 'c', schema: schema as string }), invalid)
    }
    createSink(db, { consumer: 'é'.repeat(100), schema: 'x'.repeat(63) })
  })

  it('says what to run when its tables are missing', async () => {
    const lost = createSink(db, { consumer: 'shipping', schema: 'nowhere' })
    await rejects(send(lost, 'e1'), (error: unknown) => {
      const { code, message } = error as { code: string; message: string }
      strictEqual(code, 'schema_missing')
      match(message, /`oncely migrate` for the schema 'nowhere'/)
      return true
    })
    strictEqual(await parcels(), 0)
  })
})
