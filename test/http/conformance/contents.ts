import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { type Check, post, send, statusAndCode, writing } from './check.ts'

/** Of contents that are refused before anything else, and of who reads one. */
export const contents: readonly Check[] = [
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
      deepStrictEqual(statusAndCode(await json(kept)), [201, undefined])
    },
  },
  {
    name: 'too large a content is 413, whether it says its length or not',
    needs: 'content unread',
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
    needs: 'content unread',
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
]
