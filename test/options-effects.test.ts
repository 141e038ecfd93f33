import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { createIdempotency, fingerprint, type IdempotencyOptions } from 'oncely'

import type { DB } from '../codegen/db.ts'
import { migrateToLatest } from '../src/migrations.ts'
import { testDatabase } from './support/database.ts'

const database = testDatabase()
const db = database.connect()
const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
const one = fingerprint({ n: 1 }, { version: 1 })
const MOST = 2_147_483_647
const HUNDRED_YEARS_MS = 3_155_760_000_000

const keysIn = async (schema: string) => {
  const records = database.watcher.withSchema(schema).selectFrom('records')
  return (await records.select('key').orderBy('key').execute()).map(({ key }) => key)
}

/** By the clock of one statement, which set both columns. */
const windowOf = async (key: string) => {
  const { ms } = await database.watcher
    .selectFrom('records')
    .where('key', '=', key)
    .select(sql<number>`(extract(epoch from replay_until - created_at) * 1000)::float8`.as('ms'))
    .executeTakeFirstOrThrow()
  return ms
}

/** A business function that tells how long its client may be silent. */
async function silenceBound(tx: Transaction<DB>) {
  const show = sql<{ bound: string }>`
    select current_setting('idle_in_transaction_session_timeout') as bound`
  return (await show.execute(tx)).rows[0]?.bound
}

describe('schema', () => {
  it('says which tables are used, whatever the name, and schemas do not share keys', async () => {
    const schemas = ['other', 'Odd "name"; --', '\u20ac'.repeat(21)]
    for (const schema of schemas) {
      await migrateToLatest(database.watcher, { schema })
      const idempotency = createIdempotency(db, { schema })
      const result = await idempotency.withIdempotency(scope, 'k', one, () => schema)
      deepStrictEqual(result, { ok: true, kind: 'executed', value: schema })
      deepStrictEqual(await keysIn(schema), ['k'])
      strictEqual(await idempotency.expire(scope, 'k'), true)
    }
    strictEqual((await keysIn('idem')).includes('k'), false)
  })
})

describe('replayWindowMs', () => {
  for (const [options, ms] of [
    [{}, 86_400_000],
    [{ replayWindowMs: 1 }, 1],
    [{ replayWindowMs: HUNDRED_YEARS_MS }, HUNDRED_YEARS_MS],
  ] as const) {
    it(`lets a record replay for ${ms} ms from the claim, given ${JSON.stringify(options)}`, async () => {
      const idempotency = createIdempotency(db, options)
      await idempotency.withIdempotency(scope, `window ${ms}`, one, () => 1)
      strictEqual(await windowOf(`window ${ms}`), ms)
    })
  }
})

describe('idleInTransactionTimeoutMs', () => {
  for (const [options, setting] of [
    [{}, '1min'],
    [{ idleInTransactionTimeoutMs: 59_999 }, '59999ms'],
    [{ idleInTransactionTimeoutMs: MOST }, `${MOST}ms`],
  ] as const) {
    it(`bounds the silence in the transaction to ${setting}`, async () => {
      const idempotency = createIdempotency(db, options)
      const result = await idempotency.withIdempotency(scope, setting, one, silenceBound)
      deepStrictEqual(result, { ok: true, kind: 'executed', value: setting })
    })
  }
})

describe('replayLock', () => {
  const replayedBy = async (options: IdempotencyOptions, key: string): Promise<string> => {
    const statements: string[] = []
    const log = ({ query }: { query: { sql: string } }) => statements.push(query.sql)
    const idempotency = createIdempotency(database.connect({ log: log as never }), options)
    await createIdempotency(db).withIdempotency(scope, key, one, () => 1)
    const result = await idempotency.withIdempotency(scope, key, one, () => 2)
    deepStrictEqual(result, { ok: true, kind: 'replayed', value: 1 })
    return statements.join('\n')
  }

  it('is not taken by default, and none is taken', async () => {
    for (const options of [{}, { replayLock: 'none' }] as const) {
      strictEqual(/for share/.test(await replayedBy(options, JSON.stringify(options))), false)
    }
  })

  it('is taken when it is asked for', async () => {
    match(await replayedBy({ replayLock: 'share' }, 'share'), /for share/)
  })
})

describe('withOptions', () => {
  it('inherits what it is not given, overrides what it is, and leaves its origin alone', async () => {
    const base = createIdempotency(db, { idleInTransactionTimeoutMs: 7_000, replayWindowMs: 5_000 })
    const longer = base.withOptions({ replayWindowMs: 9_000 })
    const both = longer.withOptions({ idleInTransactionTimeoutMs: 8_000 })
    const expected = { both: ['8s', 9_000], longer: ['7s', 9_000], base: ['7s', 5_000] }
    for (const [name, idempotency] of Object.entries({ both, longer, base })) {
      const result = await idempotency.withIdempotency(scope, name, one, silenceBound)
      deepStrictEqual([result.ok && result.value, await windowOf(name)], expected[name as 'base'])
    }
  })

  it('keeps the schema of its origin', async () => {
    await migrateToLatest(database.watcher, { schema: 'kept' })
    const kept = createIdempotency(db, { schema: 'kept' }).withOptions({ lockTimeoutMs: 9 })
    await kept.withIdempotency(scope, 'k', one, () => 1)
    deepStrictEqual(
      [await keysIn('kept'), await keysIn('idem')].map((keys) => keys.includes('k')),
      [true, false],
    )
  })
})
