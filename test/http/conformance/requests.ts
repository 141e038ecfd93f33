import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { type Check, post, problemOf, type Seen, send, writing } from './check.ts'

const statusAndCode = (seen: Seen) => [seen.status, problemOf(seen)['code']]
const made = [201, undefined]
const reused = [422, 'key_reused']

/** Of what makes two requests the same. */
export const requests: readonly Check[] = [
  {
    name: 'A3: another request under a key is 422; the order of its fields makes it no other',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const name = key('other')
      deepStrictEqual(statusAndCode(await post(server, name, { a: 1, b: [1, 2] })), made)
      deepStrictEqual(statusAndCode(await post(server, name, { b: [1, 2], a: 1 })), made)
      for (const body of [{ a: 2, b: [1, 2] }, { a: 1, b: [2, 1] }, { a: '1', b: [1, 2] }, {}]) {
        deepStrictEqual(statusAndCode(await post(server, name, body)), reused)
      }
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'A18: method, path, query and media type are of the request; the order of different names is not',
    async run({ serve, key }) {
      const server = await serve(writing())
      const name = key('parts')
      const path = '/things/1?a=1&b=2&a=3'
      deepStrictEqual(statusAndCode(await post(server, name, {}, { path })), made)
      const same = [
        { path: '/things/1?b=2&a=1&a=3' },
        { path, type: 'application/json; charset=utf-8' },
      ]
      for (const more of same)
        deepStrictEqual(statusAndCode(await post(server, name, {}, more)), made)
      const others = [
        { path: '/things/2?a=1&b=2&a=3' },
        { path: '/things/1?a=3&b=2&a=1' },
        { path: '/things/1' },
        { path, method: 'PATCH' },
        { path, type: 'application/merge-patch+json' },
      ]
      for (const more of others) {
        deepStrictEqual(
          statusAndCode(await post(server, name, {}, more)),
          reused,
          JSON.stringify(more),
        )
      }
    },
  },
  {
    name: 'other media types are the same by their octets',
    async run({ serve, key }) {
      const server = await serve(writing())
      const name = key('octets')
      const put = (body: string | Uint8Array<ArrayBuffer>) =>
        send(server, { key: `"${name}"`, type: 'application/octet-stream', body })
      deepStrictEqual(statusAndCode(await put(Uint8Array.from([1, 255]))), made)
      deepStrictEqual(statusAndCode(await put(Uint8Array.from([1, 255]))), made)
      deepStrictEqual(statusAndCode(await put(Uint8Array.from([1, 254]))), reused)
      deepStrictEqual(statusAndCode(await put('{"a":1}')), reused)
    },
  },
  {
    name: 'F4: no content is a content of its own',
    async run({ serve, key }) {
      const server = await serve(writing())
      const name = key('none')
      const none = () => send(server, { key: `"${name}"`, type: '' })
      deepStrictEqual(statusAndCode(await none()), made)
      deepStrictEqual(statusAndCode(await none()), made)
      deepStrictEqual(statusAndCode(await post(server, name, {})), reused)
    },
  },
  {
    name: 'JSON of which JavaScript would make something else is refused by 400, and the key stays free',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const name = key('ambiguous')
      const json = (body: string) => send(server, { key: `"${name}"`, body })
      const numbers = [
        '9007199254740993',
        '-9007199254740992',
        '1e400',
        '0.1234567890123456789',
        '1e-400',
      ]
      const texts = ['{"a":1,"a":1}', '{"a":{"b":1,"\\u0062":2}}', '["\\ud800"]']
      for (const body of [...numbers, ...texts]) {
        deepStrictEqual(statusAndCode(await json(body)), [400, 'content_ambiguous'], body)
      }
      for (const body of ['{', '{"a":01}', '\u00ff', "{'a':1}"]) {
        deepStrictEqual(statusAndCode(await json(body)), [400, 'content_malformed'], body)
      }
      const bytes = Uint8Array.from([0x22, 0xff, 0x22])
      const seen = await send(server, { key: `"${name}"`, body: bytes })
      deepStrictEqual(statusAndCode(seen), [400, 'content_malformed'])
      strictEqual(await notes(name), 0)
      const kept = '{"price":19.99,"zero":0.0,"large":9007199254740991,"e":1.5E3,"minus":-0}'
      deepStrictEqual(statusAndCode(await json(kept)), made)
    },
  },
  {
    name: 'too large a content is 413, whether it says its length or not',
    async run({ serve, key, notes }) {
      const server = await serve(writing(), { maxRequestBytes: 100 })
      const name = key('too large')
      const body = JSON.stringify('x'.repeat(1_000))
      const stream = new Blob([body]).stream()
      const sent = { key: `"${name}"`, duplex: 'half' } as const
      for (const content of [body, stream]) {
        const seen = await send(server, { ...sent, body: content })
        deepStrictEqual(statusAndCode(seen), [413, 'content_too_large'])
      }
      strictEqual(await notes(name), 0)
      strictEqual((await post(server, name)).status, 201)
    },
  },
  {
    name: 'a content that is encoded is 415, as nobody here decodes it',
    async run({ serve, key }) {
      const server = await serve(writing())
      const seen = await post(server, key('gzip'), {}, { headers: { 'content-encoding': 'gzip' } })
      deepStrictEqual(statusAndCode(seen), [415, 'content_encoded'])
    },
  },
  {
    name: 'the handler reads the content that was read for its fingerprint',
    async run({ serve, key }) {
      const server = await serve(async ({ content }) => ({ status: 200, body: await content() }))
      const seen = await post(server, key('read'), { a: [1, 'é'] })
      deepStrictEqual([seen.status, seen.text], [200, '{"a":[1,"é"]}'])
    },
  },
  {
    name: 'behind a parser of JSON a request is the same as without one',
    needs: 'body parser',
    async run({ serve, key, notes }) {
      const name = key('parser')
      const servers = [await serve(writing(), { parser: true }), await serve(writing())]
      for (const server of servers) {
        deepStrictEqual(statusAndCode(await post(server, name, { a: 1, b: 2 })), made)
        deepStrictEqual(statusAndCode(await post(server, name, { b: 2, a: 1 })), made)
        deepStrictEqual(statusAndCode(await post(server, name, { a: 2 })), reused)
      }
      strictEqual(await notes(name), 1)
      const read = await serve(async ({ content }) => ({ status: 200, body: await content() }), {
        parser: true,
      })
      strictEqual((await post(read, key('parsed'), { a: 1 })).text, '{"a":1}')
    },
  },
]
