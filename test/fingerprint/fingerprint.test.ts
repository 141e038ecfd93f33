import { deepStrictEqual, notStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'

import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }

/** Published: what another implementation has to arrive at. Value, its canonical text, SHA-256. */
const vectors: [value: unknown, canonical: string, digest: string][] = [
  [null, 'null', '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b'],
  [true, 'true', 'b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b'],
  [0, '0', '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9'],
  ['', '""', '12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126'],
  [[], '[]', '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'],
  [{}, '{}', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
  [
    { sku: 'A-1', amountMinor: 1999, currency: 'EUR' },
    '{"amountMinor":1999,"currency":"EUR","sku":"A-1"}',
    'a0a12b6a5bc07c8af6adc06a165d77273e16aa5c8e16663eb17fe698aebd3526',
  ],
  [
    { c: { e: '', d: 0.5 }, b: [true, null, 'x'], a: 1 },
    '{"a":1,"b":[true,null,"x"],"c":{"d":0.5,"e":""}}',
    '2b0104513aa896c60c2ab35860e7c1c4ee7a555bbb0de74c7aa7e012c28e418c',
  ],
  [
    // As texts: in numeric order 2 would come before 10.
    { 2: 3, 10: 2, 1: 1 },
    '{"1":1,"10":2,"2":3}',
    '88b91788460ace0ff7e7297de1debcae075edddccdd6b13bbd34b134eb58e593',
  ],
  [
    // Escaped is what JSON.stringify escapes, and nothing else; then UTF-8.
    '<&>\u2028\u{1F600}\0',
    '"<&>\u2028\u{1F600}\\u0000"',
    '843090f4923ab466b2f30729e80df7921c3960c97f92157ad9a090d8538d9f96',
  ],
  [
    Number.MIN_SAFE_INTEGER,
    '-9007199254740991',
    '4c933a456bb8f2e9894b2d0b26480439cd72d52fb8a27cbf8fd7f323f22c7815',
  ],
]

describe('the published test vectors', () => {
  for (const [value, canonical, digest] of vectors) {
    it(`${canonical} has the digest of exactly that text in UTF-8`, () => {
      strictEqual(createHash('sha256').update(canonical, 'utf8').digest('hex'), digest)
      deepStrictEqual(fingerprint(value, { version: 1 }), {
        algorithm: 'sha256',
        version: 1,
        digest,
      })
    })
  }
})

describe('the version of a fingerprint', () => {
  it('is carried, from 1 to the largest that an integer column holds', () => {
    strictEqual(fingerprint('x', { version: 1 }).version, 1)
    strictEqual(fingerprint('x', { version: 2_147_483_647 }).version, 2_147_483_647)
  })

  for (const version of [0, -1, 1.5, NaN, Infinity, 2_147_483_648, '1', 1n, null, undefined]) {
    it(`is not ${typeof version} ${String(version)}`, () => {
      throws(() => fingerprint('x', { version } as never), {
        name: 'OncelyError',
        code: 'invalid_fingerprint',
        path: undefined,
      })
    })
  }

  for (const options of [undefined, null, {}, 1]) {
    it(`is not left out: options ${inspect(options)}`, () => {
      throws(() => fingerprint('x', options as never), { code: 'invalid_fingerprint' })
    })
  }

  it('leaves the digest alone and makes the same parameters a conflict', async () => {
    const idempotency = createIdempotency(database.connect())
    const one = fingerprint('x', { version: 1 })
    const two = fingerprint('x', { version: 2 })
    strictEqual(one.digest, two.digest)
    await idempotency.withIdempotency(scope, 'versions', one, () => 1)
    const result = await idempotency.withIdempotency(scope, 'versions', two, () => 2)
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })
})

describe('a fingerprint', () => {
  it('is frozen, and does not follow the value it was taken of', () => {
    const parameters = { amountMinor: 1 }
    const taken = fingerprint(parameters, { version: 1 })
    strictEqual(Object.isFrozen(taken), true)
    const { digest } = taken
    parameters.amountMinor = 2
    strictEqual(taken.digest, digest)
    notStrictEqual(fingerprint(parameters, { version: 1 }).digest, digest)
  })

  it('survives a trip through JSON and is still accepted', async () => {
    const idempotency = createIdempotency(database.connect())
    const sent = JSON.stringify(fingerprint('x', { version: 3 }))
    const received = JSON.parse(sent) as ReturnType<typeof fingerprint>
    const result = await idempotency.withIdempotency(scope, 'travelled', received, () => 1)
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 1 })
  })
})

describe('what withIdempotency does not take for a fingerprint', () => {
  // Nobody listens there, so that an attempt to connect would show as another error.
  const connectionString = 'postgres://nobody@127.0.0.1:1/none'
  const nowhere = createIdempotency(database.connect({ connectionString }))
  const good = fingerprint('x', { version: 1 })
  const { digest } = good

  const bad: [what: string, given: unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a bare digest', digest],
    ['the parameters themselves', { sku: 'A-1' }],
    ['an unknown algorithm', { ...good, algorithm: 'md5' }],
    ['no algorithm', { version: 1, digest }],
    ['no version', { algorithm: 'sha256', digest }],
    ['version 0', { ...good, version: 0 }],
    ['a version as text', { ...good, version: '1' }],
    ['a digest in capitals', { ...good, digest: digest.toUpperCase() }],
    ['a digest with a digit too few', { ...good, digest: digest.slice(1) }],
    ['a digest with a digit too many', { ...good, digest: `${digest}0` }],
    ['a digest with a line end', { ...good, digest: `${digest}\n` }],
    ['a digest in bytes', { ...good, digest: Buffer.from(digest, 'hex') }],
  ]
  for (const [what, given] of bad) {
    it(`${what}: invalid_fingerprint, before the database`, async () => {
      const call = nowhere.withIdempotency(scope, 'k', given as never, () => 1)
      await rejects(call, { name: 'OncelyError', code: 'invalid_fingerprint', path: undefined })
    })
  }

  it('a good one does get as far as the database', async () => {
    const call = nowhere.withIdempotency(scope, 'k', good, () => 1)
    await rejects(call, { code: 'transaction_not_started' })
  })
})
