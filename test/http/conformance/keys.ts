import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { request } from 'node:http'
import { once } from 'node:events'

import { type Check, post, problemOf, send, writing } from './check.ts'
import type { Server } from './server.ts'

/** The status of a request whose header has several lines, which fetch would join. */
async function withLines(server: Server, lines: readonly string[]): Promise<number> {
  const sent = request(`${server.url}/things/1`, { method: 'POST' })
  sent.setHeader('idempotency-key', lines)
  sent.end()
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  return response.statusCode
}

/** Of the header. */
export const keys: readonly Check[] = [
  {
    name: 'A8: a request without a key is refused by 400, before anything else',
    async run({ serve, key }) {
      const server = await serve(writing())
      const seen = await send(server, { body: '{' })
      strictEqual(seen.status, 400)
      const { type, title, status, code } = problemOf(seen)
      deepStrictEqual(
        { type, title, status, code },
        {
          type: 'urn:oncely:problem:key_missing',
          title: 'Idempotency-Key is missing',
          status: 400,
          code: 'key_missing',
        },
      )
      match(String(seen.headers.get('link')), /^<https:.+>; rel="describedby"$/)
      strictEqual((await post(server, key('there'))).status, 201)
    },
  },
  {
    name: 'where a key is not required, a request without one passes untouched',
    async run({ serve }) {
      const server = await serve(writing(), { required: false })
      const seen = await send(server, { body: '{}' })
      deepStrictEqual([seen.status, seen.text], [200, 'untouched'])
    },
  },
  {
    name: 'A37: only the methods that are chosen are served: GET, HEAD, OPTIONS and DELETE pass untouched',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const name = key('methods')
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
        const seen = await send(server, { method, key: `"${name}"`, type: '' })
        strictEqual(seen.status, 200, method)
        strictEqual(seen.text, method === 'HEAD' ? '' : 'untouched', method)
      }
      strictEqual(await notes(name), 0)
      strictEqual((await post(server, name, {}, { method: 'PATCH' })).status, 201)
    },
  },
  {
    name: 'A26: what is no key is refused by 400: of several lines, joined, empty, too long, not ASCII, of another type',
    async run({ serve }) {
      const server = await serve(writing())
      strictEqual(await withLines(server, ['"a"', '"a"']), 400)
      const long = 'a'.repeat(256)
      const malformed = [
        '"a", "b"',
        'a,b',
        '""',
        ' ',
        `"${long}"`,
        long,
        '"\u00e9"',
        '123',
        '1.5',
        '?1',
      ]
      malformed.push(':YWJj:', '@1659578233', '("a" "b")', '"a', 'a b', '" a"', '"a "')
      for (const header of malformed) {
        const seen = await send(server, { key: header, body: '{}' })
        strictEqual(seen.status, 400, header)
        strictEqual(problemOf(seen)['code'], 'key_malformed', header)
      }
    },
  },
  {
    name: 'A25: a bare token is the same key as its quoted form, and parameters mean nothing',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const bare = `8e03978e-40d5-43dd-bc93-6894a57f9324-${key('bare').replace(/[^a-z0-9]/gi, '')}`
      for (const header of [bare, `"${bare}"`, `"${bare}";a=1`, `${bare};a=1`]) {
        strictEqual((await send(server, { key: header, body: '{}' })).status, 201, header)
      }
      strictEqual(await notes(bare), 1)
    },
  },
  {
    name: 'strict: a key has to be a quoted string',
    async run({ serve, key }) {
      const server = await serve(writing(), { strict: true })
      const seen = await send(server, { key: 'token', body: '{}' })
      strictEqual(problemOf(seen)['code'], 'key_malformed')
      strictEqual((await post(server, key('strict'))).status, 201)
    },
  },
  {
    name: 'A19: keys of two callers have nothing to do with each other',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const name = key('two')
      for (const actor of ['u1', 'u2']) {
        const seen = await post(server, name, {}, { headers: { 'x-actor': actor } })
        deepStrictEqual([seen.status, seen.headers.get('idempotent-replayed')], [201, null])
      }
      strictEqual(await notes(name), 2)
    },
  },
]
