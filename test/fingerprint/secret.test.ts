import { deepStrictEqual, notStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const scope = { tenant: 't', actor: 'a', operation: 'o' }
const secret = 'sixteen octets!!'

describe('a fingerprint with a secret', () => {
  it('is the HMAC-SHA-256 of the canonical JSON, as RFC 2104 has it', () => {
    // printf '{"a":1,"b":"x"}' | openssl dgst -sha256 -hmac 'sixteen octets!!'
    deepStrictEqual(fingerprint({ b: 'x', a: 1 }, { version: 2, secret }), {
      algorithm: 'hmac-sha256',
      version: 2,
      digest: '7ffceca214e61c70990c591b5972b88ce6290c5f69ca0175e940163c79827943',
    })
  })

  it('is the same for a text and its octets, and another for another secret', () => {
    const of = (key: string | Uint8Array) => fingerprint(1, { version: 1, secret: key }).digest
    strictEqual(of(secret), of(Buffer.from(secret)))
    notStrictEqual(of(secret), of(`${secret}!`))
    notStrictEqual(of(secret), fingerprint(1, { version: 1 }).digest)
  })

  for (const bad of [undefined, 'fifteen octets!', '', 16, null, [], new Uint8Array(15), {}]) {
    it(`refuses a secret of less than 16 octets, or of another type: ${JSON.stringify(bad)}`, () => {
      throws(() => fingerprint(1, { version: 1, secret: bad as never }), {
        code: 'invalid_fingerprint',
      })
    })
  }
})

describe('several fingerprints', () => {
  const idempotency = createIdempotency(database.connect())
  const old = fingerprint({ v: 1 }, { version: 1 })
  const keyed = fingerprint({ v: 1 }, { version: 2, secret })

  it('A32: replay under any that is accepted, and store the first', async () => {
    const call = async (key: string, prints: Parameters<typeof idempotency.withIdempotency>[2]) =>
      (await idempotency.withIdempotency(scope, key, prints, () => 1)).kind
    strictEqual(await call('before', old), 'executed')
    strictEqual(await call('before', keyed), 'conflict')
    strictEqual(await call('before', [keyed, old]), 'replayed')
    strictEqual(await call('after', [keyed, old]), 'executed')
    strictEqual(await call('after', keyed), 'replayed')
    strictEqual(await call('after', old), 'conflict')
  })

  for (const bad of [[], [old, undefined], [[old]], null]) {
    it(`are refused where one is none: ${JSON.stringify(bad)}`, async () => {
      const call = idempotency.withIdempotency(scope, 'bad', bad as never, () => 1)
      strictEqual(
        await call.catch((error: unknown) => (error as { code: string }).code),
        'invalid_fingerprint',
      )
    })
  }
})
