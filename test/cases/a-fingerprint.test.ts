import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint, type Fingerprints } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost, one, other, scope, writeNote } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const db = host.connect()
const idempotency = createIdempotency(db)
const conflict = { ok: false, kind: 'conflict' }

const never = () => {
  throw new Error('the business function ran')
}

/** What may be committed under a key, by its name. */
const records: Record<string, () => Promise<unknown>> = {
  completed: () => idempotency.withIdempotency(scope, 'completed', one, writeNote),
  rejected: () =>
    idempotency.withIdempotency(scope, 'rejected', one, (_, context) => context.reject('no')),
  async 'past its window'() {
    await idempotency.withIdempotency(scope, 'past its window', one, writeNote)
    await database.watcher
      .updateTable('records')
      .set({ replay_until: new Date(0) })
      .where('key', '=', 'past its window')
      .execute()
  },
  async tombstone() {
    await idempotency.withIdempotency(scope, 'tombstone', one, writeNote)
    strictEqual(await idempotency.expire(scope, 'tombstone'), true)
  },
}

const sharing = idempotency.withOptions({ replayLock: 'share' })
const guarded = idempotency.withOptions({ authorize: never })
const rebuilding = idempotency.withOptions({ replay: never })

/** Every way to ask for what is committed. */
const ways: Record<string, (key: string, prints: Fingerprints) => Promise<unknown>> = {
  'a call': (key, prints) => idempotency.withIdempotency(scope, key, prints, never),
  'a call that locks': (key, prints) => sharing.withIdempotency(scope, key, prints, never),
  'a call with authorize': (key, prints) => guarded.withIdempotency(scope, key, prints, never),
  'a call with replay': (key, prints) => rebuilding.withIdempotency(scope, key, prints, never),
  lookup: (key, prints) => idempotency.lookup(scope, key, prints),
  'a call that joins': (key, prints) =>
    db
      .transaction()
      .execute((tx) => idempotency.withTransaction(tx).withIdempotency(scope, key, prints, never)),
}

describe('another fingerprint under a key that is', () => {
  for (const [key, commit] of Object.entries(records)) {
    it(`A3: ${key}: is a conflict whoever asks, and nothing runs`, async () => {
      await commit()
      for (const [way, ask] of Object.entries(ways)) {
        deepStrictEqual(await ask(key, other), conflict, way)
      }
    })
  }

  it('A3: asked for again and again: is not remembered in either way', async () => {
    const call = (print = one) => idempotency.withIdempotency(scope, 'warm', print, () => 'done')
    const kinds = async () => [(await call()).kind, (await call(other)).kind]
    deepStrictEqual(await kinds(), ['executed', 'conflict'])
    deepStrictEqual(await kinds(), ['replayed', 'conflict'])
    await database.watcher.deleteFrom('records').where('key', '=', 'warm').execute()
    // Somebody else's intent now: only the database can know.
    await createIdempotency(host.connect()).withIdempotency(scope, 'warm', other, () => 'other')
    deepStrictEqual(await kinds(), ['conflict', 'replayed'])
  })
})

describe('a deploy that changes the rule of the fingerprint', () => {
  interface Order {
    readonly sku: string
    readonly currency?: string
    /** Differs with every retry. */
    readonly sentAt: number
    readonly nonce?: string
  }
  const before = ({ sku }: Order) => fingerprint({ sku }, { version: 1 })
  // The default was added, and the old rule is still accepted.
  const behind = (order: Order): Fingerprints => [
    fingerprint({ sku: order.sku, currency: order.currency ?? 'EUR' }, { version: 2 }),
    before(order),
  ]
  const send = async (key: string, prints: Fingerprints) =>
    (await idempotency.withIdempotency(scope, key, prints, () => 'done')).kind

  it('A32: a retry of an old call is known by the row it left, and a wrong one too', async () => {
    strictEqual(await send('old', before({ sku: 'A', sentAt: 1, nonce: 'x' })), 'executed')
    strictEqual(await send('old', behind({ sku: 'A', sentAt: 2, nonce: 'y' })), 'replayed')
    strictEqual(await send('old', behind({ sku: 'B', sentAt: 3 })), 'conflict')
    // The deploy is rolled back.
    strictEqual(await send('old', before({ sku: 'A', sentAt: 4 })), 'replayed')
  })

  it('A32: a retry of a new call is known under the default that was added', async () => {
    strictEqual(await send('new', behind({ sku: 'A', sentAt: 1 })), 'executed')
    strictEqual(await send('new', behind({ sku: 'A', currency: 'EUR', sentAt: 2 })), 'replayed')
    strictEqual(await send('new', behind({ sku: 'A', currency: 'USD', sentAt: 3 })), 'conflict')
    // Who does not know the version yet cannot tell, and executes nothing twice.
    strictEqual(await send('new', before({ sku: 'A', sentAt: 4 })), 'conflict')
  })
})
