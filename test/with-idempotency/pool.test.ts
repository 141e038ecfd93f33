import { deepStrictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import {
  type NotesDatabase,
  notesHost,
  one,
  other,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'

const host = notesHost(testDatabase())

const kindsOf = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind)

describe('a pool of connections', () => {
  it('D7: of one is enough for everything', async () => {
    const idempotency = createIdempotency(host.connect({ max: 1 }), { replayLock: 'share' })
    const call = (print = one) => idempotency.withIdempotency(scope, 'single', print, writeNote)
    deepStrictEqual(kindsOf([await call(), await call(), await call(other)]), [
      'executed',
      'replayed',
      'conflict',
    ])
    deepStrictEqual(await idempotency.expire(scope, 'single'), true)
    deepStrictEqual((await call()).kind, 'expired')
  })

  it('D7: of one is enough for many callers at once, on one key and on many', async () => {
    const idempotency = createIdempotency(host.connect({ max: 1 }))
    const call = (key: string) => idempotency.withIdempotency(scope, key, one, writeNote)
    const keys = ['q1', 'q1', 'q2', 'q2', 'q3', 'q3']
    deepStrictEqual(
      kindsOf(await Promise.all(keys.map(call))),
      keys.map((_, at) => (at % 2 === 0 ? 'executed' : 'replayed')),
    )
  })

  it('D7: of five is enough for five functions at work at once', async () => {
    const idempotency = createIdempotency(host.connect({ max: 5 }))
    using hold = gate()
    const keys = ['p1', 'p2', 'p3', 'p4', 'p5']
    const calls = keys.map((key) => {
      const inside = Promise.withResolvers<undefined>()
      const call = idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        await writeNote(tx, context)
        inside.resolve(undefined)
        await hold.pass()
      })
      return { call: beside(call), inside: inside.promise }
    })
    await Promise.all(calls.map(({ call, inside }) => Promise.race([call, inside])))
    hold.open()
    const results = await Promise.all(calls.map(({ call }) => call))
    deepStrictEqual(
      kindsOf(results),
      keys.map(() => 'executed'),
    )
    for (const key of keys) deepStrictEqual(await host.left(key), written)
  })
})

describe('how long the client may be silent in a transaction', () => {
  const bound = 'idle_in_transaction_session_timeout'
  async function boundOf(db: Kysely<NotesDatabase>): Promise<string> {
    const { rows } = await sql<{ value: string }>`
      select current_setting(${bound}) as value`.execute(db)
    return rows[0]?.value ?? ''
  }

  for (const [theirs, ours, inside] of [
    ['0', 60_000, '1min'],
    ['5s', 60_000, '5s'],
    ['1h', 60_000, '1min'],
    ['2d', 2_147_483_647, '2d'],
    ['90s', 90_000, '90s'],
    ['90s', 89_999, '89999ms'],
  ] as const) {
    it(`is the shorter one of the host's ${theirs} and our ${ours} ms, and theirs again`, async () => {
      const db = host.connect({ max: 1, options: `-c ${bound}=${theirs}` })
      const own = createIdempotency(db, { idleInTransactionTimeoutMs: ours })
      const statement = sql<{ value: string }>`select current_setting(${bound}) as value`
      const result = await own.withIdempotency(scope, `${theirs} ${ours}`, one, boundOf)
      deepStrictEqual(result, { ok: true, kind: 'executed', value: inside })
      deepStrictEqual((await statement.execute(db)).rows, [{ value: theirs }])
    })
  }
})
