import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint, type IdempotencyOptions } from 'oncely'

import { testDatabase } from './support/database.ts'

const database = testDatabase()
const db = database.connect()
const idempotency = createIdempotency(db)
const scope = { tenant: 't1', actor: 'u1', operation: 'o' }
const one = fingerprint(1, { version: 1 })
const event = { type: 't', aggregateType: 'a', aggregateId: '1', payload: 1 }

describe('what is given to createIdempotency', () => {
  for (const given of [null, 5, true, [], () => 1]) {
    it(`refuses ${String(given)} as options`, () => {
      throws(() => createIdempotency(db, given as never), { code: 'invalid_options' })
      throws(() => idempotency.withOptions(given as never), { code: 'invalid_options' })
    })
  }

  for (const name of ['toString', 'constructor', 'hasOwnProperty', '__proto__']) {
    it(`does not know an option ${name}, which every object inherits`, () => {
      const given = Object.fromEntries([[name, 1]]) as IdempotencyOptions
      throws(() => createIdempotency(db, given), { code: 'invalid_options' })
    })
  }

  for (const given of [undefined, null, {}, 'postgres://'] as never[]) {
    it(`refuses ${JSON.stringify(given)} as a Kysely`, () => {
      throws(() => createIdempotency(given), { code: 'invalid_options' })
    })
  }

  it('copies the options: a later change of the object reaches nobody', async () => {
    const given = { schema: 'idem' }
    const made = createIdempotency(db, given)
    given.schema = 'nowhere'
    const { kind } = await made.withOptions({}).withIdempotency(scope, 'copied', one, () => 1)
    strictEqual(kind, 'executed')
  })

  it('keeps what withOptions names and leaves undefined', async () => {
    const undefinedSchema = { schema: undefined } as unknown as IdempotencyOptions
    const nowhere = createIdempotency(db, { schema: 'nowhere' }).withOptions(undefinedSchema)
    await rejects(
      nowhere.withIdempotency(scope, 'kept', one, () => 1),
      { code: 'schema_missing' },
    )
  })
})

describe('what is given to a call', () => {
  for (const given of [undefined, null, {}, Promise.resolve(1)] as never[]) {
    it(`refuses ${String(given)} as a business function before anything is claimed`, async () => {
      const unreachable = createIdempotency(database.connect({ host: '127.0.0.1', port: 1 }))
      await rejects(unreachable.withIdempotency(scope, 'fn', one, given), {
        code: 'invalid_function',
      })
    })
  }

  it('knows no option of a fingerprint but its version, so a secret is not silently ignored', () => {
    const options = { version: 1, secret: 's' } as { version: number }
    throws(() => fingerprint(1, options), { code: 'invalid_fingerprint' })
  })
})

describe('what is given to the context', () => {
  it('is the scope and nothing else that the claim has', async () => {
    const result = await idempotency.withIdempotency(scope, 'scope', one, (_tx, context) => ({
      ...context.scope,
    }))
    deepStrictEqual(result, { ok: true, kind: 'executed', value: scope })
  })

  it('refuses headers that are not an object of strings', async () => {
    await idempotency.withIdempotency(scope, 'headers', one, (_tx, { emit }) => {
      const refused = ['x', 5, [], new Map(), () => 1, null, { a: NaN }, { a: 1n }, { a: 1 }]
      for (const headers of refused as never[]) {
        throws(
          () => {
            emit({ ...event, headers })
          },
          { code: 'invalid_event' },
          String(headers),
        )
      }
    })
  })

  it('refuses a resource that is none', async () => {
    await idempotency.withIdempotency(scope, 'resource', one, (_tx, { resource }) => {
      for (const given of [undefined, null, {}, { type: 't' }, { type: 't', id: 5 }] as never[]) {
        throws(
          () => {
            resource(given)
          },
          { code: 'invalid_resource' },
        )
      }
    })
  })
})
