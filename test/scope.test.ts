import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, fingerprint, type Scope } from 'oncely'

import { testDatabase } from './support/database.ts'

const database = testDatabase()
const good: Scope = { tenant: 't1', actor: 'u1', operation: 'orders.create' }
const parts = ['tenant', 'actor', 'operation'] as const
const one = fingerprint({ n: 1 }, { version: 1 })

describe('scopes and keys in the database', () => {
  const idempotency = createIdempotency(database.connect())
  const execute = (scope: Scope, key: string, value: number) =>
    idempotency.withIdempotency(scope, key, one, () => value)
  const executed = (value: number) => ({ ok: true, kind: 'executed', value })
  const replayed = (value: number) => ({ ok: true, kind: 'replayed', value })

  it('A18, A19: callers, tenants and operations do not share a key', async () => {
    const scopes: Scope[] = [
      good,
      { ...good, actor: 'u2' },
      { ...good, tenant: 't2' },
      { ...good, operation: 'orders.cancel' },
    ]
    for (const [n, scope] of scopes.entries()) {
      deepStrictEqual(await execute(scope, 'shared', n), executed(n))
    }
    for (const [n, scope] of scopes.entries()) {
      deepStrictEqual(await execute(scope, 'shared', 9), replayed(n))
    }
  })

  it('A19: parts are apart, whatever separator they contain', async () => {
    const pairs = [
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a","b', 'c'],
      ['a', 'b","c'],
      ['a\\', 'b'],
      ['a', '\\b'],
    ] as const
    for (const [n, [tenant, actor]] of pairs.entries()) {
      deepStrictEqual(await execute({ ...good, tenant, actor }, 'parts', n), executed(n))
    }
    for (const [n, [tenant, actor]] of pairs.entries()) {
      deepStrictEqual(await execute({ ...good, tenant, actor }, 'parts', 9), replayed(n))
    }
  })

  it('compares by octet: case, accents and blanks count', async () => {
    const actors = ['u', 'U', 'u ', ' u', '\u00e9', 'e\u0301', 'e', '\u00df', 'ss', "'", '%']
    for (const [n, actor] of actors.entries()) {
      deepStrictEqual(await execute({ ...good, actor }, 'octets', n), executed(n))
    }
    for (const [n, key] of ['case', 'Case', 'ca se', 'ca  se', '"case"', "ca'se"].entries()) {
      deepStrictEqual(await execute(good, key, n), executed(n))
    }
  })

  it('A20: only the principal counts, and not the credential it came with', async () => {
    const withToken = (token: string) => ({ ...good, token })
    deepStrictEqual(await execute(withToken('old'), 'rotated', 1), executed(1))
    deepStrictEqual(await execute(withToken('new'), 'rotated', 2), replayed(1))
  })

  it('takes a copy of the scope as the call begins', async () => {
    const scope = { ...good, actor: 'before' }
    const call = execute(scope, 'copied', 1)
    scope.actor = 'after'
    await call
    deepStrictEqual(await execute({ ...good, actor: 'before' }, 'copied', 2), replayed(1))
  })

  for (const [what, character, octets] of [
    ['one-octet', 'a', 200],
    ['two-octet', '\u00e9', 400],
    ['three-octet', '\u20ac', 600],
    ['four-octet', '\u{1F600}', 800],
  ] as const) {
    it(`stores 200 ${what} characters in each part beside a key of 255 octets`, async () => {
      const [tenant, actor, operation] = parts.map(() => character.repeat(200))
      const scope = { tenant, actor, operation } as Scope
      const key = '~'.repeat(255)
      deepStrictEqual(await execute(scope, key, 1), executed(1))
      deepStrictEqual(await execute(scope, key, 2), replayed(1))
      const lengths = await database.watcher
        .selectFrom('records')
        .where('tenant', '=', scope.tenant)
        .select((eb) => parts.map((part) => eb.fn<number>('octet_length', [part]).as(part)))
        .select(sql<number>`octet_length(key)`.as('key'))
        .execute()
      deepStrictEqual(lengths, [{ tenant: octets, actor: octets, operation: octets, key: 255 }])
    })
  }

  it('takes a single character for each part and for the key', async () => {
    const scope = { tenant: '0', actor: ' ', operation: '/' }
    for (const [n, key] of ['!', '~', '0'].entries()) {
      deepStrictEqual(await execute(scope, key, n), executed(n))
      deepStrictEqual(await execute(scope, key, 9), replayed(n))
    }
  })

  it('has stored nothing for a key that was refused', async () => {
    const refused = idempotency.withIdempotency(good, ' blank', one, () => 1)
    await rejects(refused, { code: 'invalid_key' })
    const { count } = await database.watcher
      .selectFrom('records')
      .where(sql<boolean>`key ~ 'blank'`)
      .select((eb) => eb.fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    strictEqual(count, '0')
  })
})
