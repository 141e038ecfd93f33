import {
  deepStrictEqual,
  match,
  notStrictEqual,
  rejects,
  strictEqual,
  throws,
} from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotentFetch, type IdempotentFetchError } from 'oncely/client'

import { failureOf } from '../support/calls.ts'
import { answering, cut, scriptedServer } from './scripted-server.ts'

const server = scriptedServer()
const quick = { initialDelayMs: 0, maxDelayMs: 0 }
const send = createIdempotentFetch(quick)
const post = { method: 'POST' }
const sent = () => server.requests.map(({ headers }) => headers['idempotency-key'])
const failing = () => {
  server.play(cut, answering(503), answering(201))
}

describe('the key of an intent', () => {
  it('F1: is made before the first attempt, and is the same in each', async () => {
    failing()
    const { key, attempts } = await send(server.url, post)
    match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    deepStrictEqual([attempts, sent()], [3, [`"${key}"`, `"${key}"`, `"${key}"`]])
    failing()
    notStrictEqual((await send(server.url, post)).key, key)
  })

  for (const [shape, headers] of Object.entries({
    Headers: new Headers({ 'Idempotency-Key': '"mine"' }),
    'an array': [['Idempotency-Key', '"mine"']] as [string, string][],
    'an object': { 'IDEMPOTENCY-KEY': '"mine"' },
  })) {
    it(`F1: is the caller's where it is in the headers, as ${shape}`, async () => {
      failing()
      strictEqual((await send(server.url, { ...post, headers })).key, 'mine')
      deepStrictEqual(sent(), ['"mine"', '"mine"', '"mine"'])
    })
  }

  it('F1: also of a Request, and without quotes; it is written as keyFormat says', async () => {
    failing()
    const headers = { 'idempotency-key': 'bare-key' }
    strictEqual((await send(new Request(server.url, { ...post, headers }))).key, 'bare-key')
    deepStrictEqual(new Set(sent()), new Set(['"bare-key"']))
    failing()
    const quoted = { 'idempotency-key': '"a \\"b\\" \\\\"' }
    strictEqual((await send(server.url, { ...post, headers: quoted })).key, 'a "b" \\')
  })

  it('F3: is one however often the intent is sent, such as by a double click', async () => {
    server.play(answering(201))
    const intent = send.intent()
    strictEqual(intent.since, undefined)
    const clicks = await Promise.all([intent.send(server.url, post), intent.send(server.url, post)])
    deepStrictEqual(new Set(clicks.map(({ key }) => key)), new Set([intent.key]))
    deepStrictEqual(new Set(sent()), new Set([`"${intent.key}"`]))
    strictEqual(typeof intent.since, 'number')
  })

  it('may be one that was kept, and is written as the server takes it', async () => {
    server.play(answering(201))
    await send.intent({ key: 'kept "1"' }).send(server.url, post)
    await createIdempotentFetch({ keyFormat: 'bare' })
      .intent({ key: 'kept' })
      .send(server.url, post)
    deepStrictEqual(sent(), ['"kept \\"1\\""', 'kept'])
  })

  it('is written by keyFormat also where the caller has written it, so that an intent sends the same', async () => {
    server.play(answering(503, { 'retry-after': '3600' }), answering(201))
    const bare = createIdempotentFetch({ ...quick, keyFormat: 'bare' })
    const headers = { 'idempotency-key': '"mine"' }
    const error = await failureOf(bare(server.url, { ...post, headers }))
    await bare.intent(error as IdempotentFetchError).send(server.url, post)
    deepStrictEqual(sent(), ['mine', 'mine'])
  })

  it('is that of the Request where other headers have none', async () => {
    server.play(answering(201))
    const request = () =>
      new Request(server.url, { ...post, headers: { 'idempotency-key': '"of-request"' } })
    const headers = { 'x-a': '1' }
    strictEqual((await send(request(), { headers })).key, 'of-request')
    strictEqual((await send(request(), { headers: { 'idempotency-key': 'b' } })).key, 'b')
    await send.intent({ key: 'of-request' }).send(request(), { headers })
    deepStrictEqual(sent(), ['"of-request"', '"b"', '"of-request"'])
    await rejects(send.intent().send(request(), { headers }), { code: 'invalid_options' })
  })

  it('is refused where headers have no one key, before anything is sent', async () => {
    server.play(answering(201))
    const joined = new Headers({ 'idempotency-key': '"a"' })
    joined.append('idempotency-key', '"b"')
    const name = 'Idempotency-Key'
    const written = ['"a"garbage', '"a";x=1', 'a b', 'a,b', 'a"b', '"a', '', '""', 'ä']
    const absent = [{ [name]: undefined }, { [name]: null }, [[name, undefined]]]
    for (const headers of [joined, ...absent, ...written.map((key) => ({ [name]: key }))]) {
      const init = { ...post, headers: headers as Record<string, string> }
      await rejects(send(server.url, init), { code: 'invalid_options' })
    }
    strictEqual(server.requests.length, 0)
  })

  it('is refused where it is none, or another one is in the headers', async () => {
    server.play(answering(201))
    for (const key of ['', ' a', 'ä', 'a'.repeat(256)]) {
      await rejects(async () => send.intent({ key }).send(server.url, post), {
        code: 'invalid_options',
      })
    }
    const headers = { 'idempotency-key': '"other"' }
    await rejects(send.intent({ key: 'mine' }).send(server.url, { ...post, headers }), {
      code: 'invalid_options',
    })
    deepStrictEqual(sent(), [])
  })
})

describe('an intent that was kept', () => {
  it('has its key: no word of one is no new one', () => {
    for (const kept of [null, 'k', 1, [], {}, { key: undefined }, { key: '' }, { since: 1 }]) {
      throws(() => send.intent(kept as never), { code: 'invalid_options' })
    }
    notStrictEqual(send.intent(undefined).key, send.intent().key)
  })

  it('was sent at a time, and none to come', () => {
    for (const since of [-1, Number.NaN, Infinity, '1', null]) {
      throws(() => send.intent({ key: 'k', since } as never), { code: 'invalid_options' })
    }
    for (const retentionMs of [-1, 0.5, '1', null]) {
      throws(() => send.intent({ key: 'k', retentionMs } as never), { code: 'invalid_options' })
    }
    const before = Date.now()
    const { since } = send.intent({ key: 'k', since: before + 3_600_000 })
    strictEqual(Number(since) >= before && Number(since) <= Date.now(), true)
  })
})
