import { deepStrictEqual, notStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'

import { Kysely, PostgresDialect } from 'kysely'
import { createIdempotency, type IdempotencyOptions } from 'oncely'

import type { DB } from '../codegen/db.ts'
import { resolveOptions } from '../src/options.ts'
import { testDatabase } from './support/database.ts'

const database = testDatabase()
const db = database.connect()

const INT4_MAX = 2_147_483_647
const HUNDRED_YEARS_MS = 3_155_760_000_000
const milliseconds = [0, -1, 0.5, NaN, Infinity, -Infinity, '250', 250n, null, true, [250], {}]

interface Rule {
  readonly byDefault: unknown
  readonly allowed: readonly unknown[]
  readonly refused: readonly unknown[]
}

const rules: Record<Exclude<keyof IdempotencyOptions, 'onOutcome'>, Rule> = {
  schema: {
    byDefault: 'idem',
    // 63 octets are what PostgreSQL keeps of a name; it would cut the rest off silently.
    allowed: ['i', 'Idem "1"', 'a'.repeat(63), '\u{1F600}'.repeat(15), '\u20ac'.repeat(21)],
    refused: ['', 'a'.repeat(64), '\u{1F600}'.repeat(16), 'a\0b', '\0', null, 1, ['idem'], {}],
  },
  lockTimeoutMs: {
    byDefault: 250,
    allowed: [1, INT4_MAX],
    refused: [...milliseconds, INT4_MAX + 1],
  },
  replayWindowMs: {
    byDefault: 86_400_000,
    allowed: [1, HUNDRED_YEARS_MS],
    refused: [...milliseconds, HUNDRED_YEARS_MS + 1],
  },
  tombstoneWindowMs: {
    byDefault: Infinity,
    allowed: [1, HUNDRED_YEARS_MS, Infinity],
    refused: [...milliseconds.filter((value) => value !== Infinity), HUNDRED_YEARS_MS + 1],
  },
  retryAfterMs: {
    byDefault: 1_000,
    allowed: [1, INT4_MAX],
    refused: [...milliseconds, INT4_MAX + 1],
  },
  idleInTransactionTimeoutMs: {
    byDefault: 60_000,
    allowed: [1, INT4_MAX],
    refused: [...milliseconds, INT4_MAX + 1],
  },
  resolveTimeoutMs: {
    byDefault: 10_000,
    allowed: [1, INT4_MAX],
    refused: [...milliseconds, INT4_MAX + 1],
  },
  replayLock: {
    byDefault: 'none',
    allowed: ['none', 'share'],
    refused: ['', 'SHARE', 'update', null, true, ['none'], {}],
  },
  readFirst: {
    byDefault: false,
    allowed: [true, false],
    refused: [null, 0, 1, '', 'true', [], {}],
  },
  maxResponseBytes: {
    byDefault: 1_048_576,
    allowed: [1, 268_435_456],
    refused: [...milliseconds, 268_435_457],
  },
  retry: {
    byDefault: { attempts: 1 },
    allowed: [{ attempts: 1 }, { attempts: 10 }],
    refused: [{ attempts: 0 }, { attempts: 11 }, { attempts: 1.5 }, {}, null, 3, { times: 3 }],
  },
}

describe('each option', () => {
  const idempotency = createIdempotency(db)
  const defaults = Object.fromEntries(
    Object.entries(rules).map(([name, { byDefault }]) => [name, byDefault]),
  )

  it('has its default, also when it is given as undefined', () => {
    deepStrictEqual(resolveOptions({}), defaults)
    for (const name of Object.keys(rules)) {
      deepStrictEqual(resolveOptions({ [name]: undefined }), defaults)
    }
  })

  for (const [name, { allowed, refused }] of Object.entries(rules)) {
    it(`${name} is taken at both ends of what it may be, and leaves the others alone`, () => {
      for (const value of allowed) {
        deepStrictEqual(resolveOptions({ [name]: value }), { ...defaults, [name]: value })
        createIdempotency(db, { [name]: value })
        // The clock of tombstones is of all records, and not of one operation's.
        if (name !== 'tombstoneWindowMs') idempotency.withOptions({ [name]: value })
      }
    })

    for (const value of refused) {
      it(`${name} is not ${inspect(value, { maxStringLength: 12 })}`, () => {
        const error = { name: 'OncelyError', code: 'invalid_options', path: undefined }
        throws(() => createIdempotency(db, { [name]: value }), error)
        throws(() => idempotency.withOptions({ [name]: value }), error)
      })
    }
  }
})

describe('an option that there is not', () => {
  for (const name of ['lockTimeout', 'locktimeoutms', 'authorise', '', ' schema', '0']) {
    it(`'${name}' is refused, even when it is undefined`, () => {
      for (const value of [1, undefined]) {
        const given = { [name]: value } as IdempotencyOptions
        throws(() => createIdempotency(db, given), { code: 'invalid_options' })
        throws(() => createIdempotency(db).withOptions(given), { code: 'invalid_options' })
      }
    })
  }
})

describe('createIdempotency', () => {
  it('refuses a transaction, by whose end the calls would be undone', async () => {
    const error = { name: 'OncelyError', code: 'invalid_options' }
    await db.transaction().execute((trx: Kysely<DB>) => {
      throws(() => createIdempotency(trx), error)
      return Promise.resolve()
    })
    const trx = await db.startTransaction().execute()
    throws(() => createIdempotency(trx as Kysely<DB>), error)
    await trx.rollback().execute()
  })

  it('opens no connection', () => {
    const pool = database.pool()
    const host = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
    createIdempotency(host).withOptions({ schema: 'other' })
    strictEqual(pool.totalCount, 0)
  })

  it('gives something frozen, and so are the options behind it', () => {
    const idempotency = createIdempotency(db)
    strictEqual(Object.isFrozen(idempotency), true)
    strictEqual(Object.isFrozen(idempotency.withOptions({ lockTimeoutMs: 1 })), true)
    strictEqual(Object.isFrozen(resolveOptions({ lockTimeoutMs: 1 })), true)
    notStrictEqual(idempotency.withOptions({}), idempotency)
  })
})
