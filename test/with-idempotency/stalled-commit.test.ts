import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'

import { type CallOptions, createIdempotency, isOncelyError } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { type HostName, hosts } from '../support/hosts.ts'
import {
  notesHost,
  nothing,
  one,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
// Half of the look-up is for the transaction to end by itself; a busy machine needs some of the rest.
const options = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs: 3_000 }

// A plain host keeps a stalled connection until the link breaks.
afterEach(() => {
  proxy.cut()
})

const hostNamed = (name: HostName, max: number) =>
  host.connect({ connectionString: proxy.url(), max, manners: hosts[name] })

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`COMMIT is never answered, and the link does not break, ${name}`, () => {
    it('as the answer stalls: executed, recovered', async () => {
      const key = `behind ${name}`
      const idempotency = createIdempotency(hostNamed(name, 2), options)
      proxy.meddle('stalled behind')
      const result = await idempotency.withIdempotency(scope, key, one, writeNote)
      deepStrictEqual(result, { ok: true, kind: 'executed', value: 'note', recovered: true })
      deepStrictEqual(await host.left(key), written)
    })

    it('as COMMIT stalls: the transaction is ended, a definite error says so', async () => {
      const key = `before ${name}`
      const idempotency = createIdempotency(hostNamed(name, 2), options)
      proxy.meddle('stalled before')
      const call = () => idempotency.withIdempotency(scope, key, one, writeNote)
      const failure = await failureOf(call())
      strictEqual(isOncelyError(failure) && failure.code, 'commit_unanswered')
      deepStrictEqual(await host.left(key), nothing)
      strictEqual((await call()).kind, 'executed')
    })

    it('and ROLLBACK likewise: what the function threw', async () => {
      const own = new Error('own')
      const idempotency = createIdempotency(hostNamed(name, 2), options)
      proxy.meddle('stalled before', 'rollback')
      const failing = idempotency.withIdempotency(scope, `rollback ${name}`, one, () => {
        throw own
      })
      strictEqual(await failureOf(failing), own)
    })

    it('of expire: an error says that it is safe to repeat', async () => {
      const key = `expire ${name}`
      const idempotency = createIdempotency(hostNamed(name, 2), options)
      await idempotency.withIdempotency(scope, key, one, writeNote)
      proxy.meddle('stalled behind')
      const failure = await failureOf(idempotency.expire(scope, key))
      strictEqual(isOncelyError(failure) && failure.code, 'outcome_unknown')
      strictEqual(await idempotency.expire(scope, key), false)
    })
  })
}

describe('COMMIT is never answered, in a pool of one', () => {
  const call = (name: HostName) => {
    const db = hostNamed(name, 1)
    proxy.meddle('stalled behind')
    // Committed as it is, it needs no time to end: who waits for its connection has this long.
    const idempotency = createIdempotency(db, { ...options, resolveTimeoutMs: 800 })
    return idempotency.withIdempotency(scope, `single ${name}`, one, writeNote)
  }

  for (const name of ['oncelyDialect', 'pipelining'] as const) {
    it(`${name}: recovered, as the stalled connection is destroyed`, async () => {
      const result = await call(name)
      strictEqual(result.kind === 'executed' && result.recovered, true)
    })
  }

  it('plain: unknown, and nothing is left waiting for the pool', async () => {
    const result = await call('plain')
    strictEqual(result.kind, 'unknown')
    strictEqual(isOncelyError(result.cause) && result.cause.code, 'commit_unanswered')
  })
})

describe('a call that is given up once COMMIT was sent', () => {
  it('ends the search: unknown, and the same key sent again ends in the truth', async () => {
    const patient = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs: PATIENCE_MS }
    const idempotency = createIdempotency(hostNamed('oncelyDialect', 2), patient)
    proxy.meddle('stalled behind')
    const stalled = proxy.untilMeddled()
    const giveUp = new AbortController()
    const call = (given: CallOptions) =>
      idempotency.withIdempotency(scope, 'late', one, writeNote, given)
    const given = beside(call({ signal: giveUp.signal }))
    await stalled
    giveUp.abort()
    strictEqual((await given).kind, 'unknown')
    deepStrictEqual(await host.left('late'), written)
    strictEqual((await call({ deadlineMs: PATIENCE_MS })).kind, 'replayed')
  })
})

describe('the look-up meets a connection that does not answer', () => {
  for (const name of ['plain', 'oncelyDialect'] as const) {
    it(`and asks on another, ${name}`, async () => {
      const idempotency = createIdempotency(hostNamed(name, 2), {
        ...options,
        resolveTimeoutMs: 8_000,
      })
      proxy.meddle('lost behind')
      proxy.meddle('stalled before', 'select case when pg_is_in_recovery')
      const key = `half-open ${name}`
      const result = await idempotency.withIdempotency(scope, key, one, writeNote)
      strictEqual(result.kind === 'executed' && result.recovered, true)
    })
  }
})
