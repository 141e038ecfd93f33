import { rejects } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'

import { createIdempotency, fingerprint, type Scope } from 'oncely'

import { testDatabase } from './support/database.ts'

const database = testDatabase()
const good: Scope = { tenant: 't1', actor: 'u1', operation: 'orders.create' }
const one = fingerprint({ n: 1 }, { version: 1 })
const other = fingerprint({ n: 2 }, { version: 1 })
const short = (value: unknown) => inspect(value, { maxStringLength: 12 })

describe('a bad scope or key', () => {
  // Nobody listens there, so that an attempt to connect would show as another error.
  const connectionString = 'postgres://nobody@127.0.0.1:1/none'
  const nowhere = createIdempotency(database.connect({ connectionString }))
  const never = () => {
    throw new Error('the business function ran')
  }

  async function refused(scope: unknown, key: unknown, code: string): Promise<void> {
    const error = { name: 'OncelyError', code, path: undefined }
    for (const print of [one, other]) {
      const call = nowhere.withIdempotency(scope as Scope, key as string, print, never)
      await rejects(call, error)
    }
    await rejects(nowhere.expire(scope as Scope, key as string), error)
  }

  for (const key of [undefined, null, '', ' ', '   ', 0, 1n, Symbol('k'), ['k'], Object('k')]) {
    it(`A8: ${inspect(key)} is no key and is never stored as one`, () =>
      refused(good, key, 'invalid_key'))
  }

  const keys = [
    'k'.repeat(256),
    'k'.repeat(10_240),
    ' k',
    'k ',
    'k\n',
    '\tk',
    'a\x7fb',
    'é',
    '\u{1F600}',
  ]
  for (const key of keys) {
    it(`A26: the key ${short(key)} is refused`, () => refused(good, key, 'invalid_key'))
  }

  it('C19: NUL in a key is refused wherever it stands', async () => {
    for (const key of ['a\0b', '\0', 'a\0', '\0b']) await refused(good, key, 'invalid_key')
  })

  const texts: unknown[] = [undefined, null, '', 1, ['a'], Object('a'), '\ud800', 'a\udc00b']
  const tooLong = ['a'.repeat(201), '\u{1F600}'.repeat(201), 'a'.repeat(10_240)]
  const mixed = 'a'.repeat(100) + '\u{1F600}'.repeat(101)
  for (const part of ['tenant', 'actor', 'operation']) {
    for (const text of [...texts, ...tooLong, mixed]) {
      it(`the ${part} ${short(text)} is refused`, () =>
        refused({ ...good, [part]: text }, 'k', 'invalid_scope'))
    }

    it(`C19: NUL in the ${part} is refused wherever it stands`, async () => {
      for (const value of ['a\0b', '\0', 'a\0', '\0b']) {
        await refused({ ...good, [part]: value }, 'k', 'invalid_scope')
      }
    })
  }

  for (const scope of [undefined, null, 't1', 1, [], ['t1', 'u1', 'o'], {}, new Map()]) {
    it(`${inspect(scope)} is no scope`, () => refused(scope, 'k', 'invalid_scope'))
  }

  it('is told from good input by not asking the database', async () => {
    const error = { code: 'transaction_not_started' }
    await rejects(nowhere.withIdempotency(good, 'k', one, never), error)
    await rejects(nowhere.expire(good, 'k'), error)
  })
})
