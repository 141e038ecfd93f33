import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, type IdempotencyOptions } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { nothing, notesHost, one, other, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const plain = createIdempotency(host.connect())

/** An instance that reads first, and the first words of what it has sent. */
function reading(options: IdempotencyOptions = {}) {
  const sent: string[] = []
  const log = ({ query }: { readonly query: { readonly sql: string } }) => {
    sent.push(query.sql.split(' ', 1)[0] ?? '')
  }
  const db = host.connect({ log: log as never })
  return { idempotency: createIdempotency(db, { readFirst: true, ...options }), sent }
}

describe('readFirst', () => {
  it('answers a replay by one select, in no transaction', async () => {
    const { idempotency, sent } = reading()
    await plain.withIdempotency(scope, 'replayed', one, writeNote)
    const result = await idempotency.withIdempotency(scope, 'replayed', one, writeNote)
    strictEqual(result.kind, 'replayed')
    deepStrictEqual(sent, ['select'])
    deepStrictEqual(await host.left('replayed'), written)
  })

  it('answers a conflict, a refusal and a tombstone so, too', async () => {
    const { idempotency, sent } = reading()
    await plain.withIdempotency(scope, 'refused', one, (_, context) => context.reject('no'))
    await plain.withIdempotency(scope, 'expired', one, writeNote)
    await plain.expire(scope, 'expired')
    const kind = async (key: string, print = one) =>
      (await idempotency.withIdempotency(scope, key, print, writeNote)).kind
    deepStrictEqual(
      [await kind('refused'), await kind('expired'), await kind('refused', other)],
      ['rejected', 'expired', 'conflict'],
    )
    deepStrictEqual(sent, ['select', 'select', 'select'])
  })

  it('goes on to claim where nothing is committed', async () => {
    const { idempotency, sent } = reading()
    const result = await idempotency.withIdempotency(scope, 'first', one, writeNote)
    strictEqual(result.kind, 'executed')
    deepStrictEqual(sent.slice(0, 3), ['select', 'start', 'insert'])
    deepStrictEqual(await host.left('first'), written)
  })

  it('does not run where a replay locks its record', async () => {
    const { idempotency, sent } = reading({ replayLock: 'share' })
    await plain.withIdempotency(scope, 'locked', one, writeNote)
    strictEqual(
      (await idempotency.withIdempotency(scope, 'locked', one, writeNote)).kind,
      'replayed',
    )
    strictEqual(sent[0], 'start')
    const asked: string[] = []
    const authorize = () => asked.push('') > 0
    const authorized = reading().idempotency.withOptions({ authorize })
    await authorized.withIdempotency(scope, 'locked', one, writeNote)
    strictEqual(asked.length, 1)
  })

  it('tells what fails as it is told without it', async () => {
    const missing = reading({ schema: 'missing' })
    await rejects(missing.idempotency.withIdempotency(scope, 'k', one, writeNote), {
      code: 'schema_missing',
    })
    const nowhere = createIdempotency(
      host.connect({ connectionString: 'postgres://127.0.0.1:1/none' }),
      {
        readFirst: true,
      },
    )
    await rejects(nowhere.withIdempotency(scope, 'k', one, writeNote), {
      code: 'transaction_not_started',
    })
  })

  it('keeps no connection of a call that is given up', async () => {
    const { idempotency } = reading()
    const signal = AbortSignal.abort()
    const call = idempotency.withIdempotency(scope, 'given up', one, writeNote, { signal })
    await rejects(call, { code: 'aborted' })
    deepStrictEqual(await host.left('given up'), nothing)
  })
})
