import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { type Check, post, send, statusAndCode, writing } from './check.ts'

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
