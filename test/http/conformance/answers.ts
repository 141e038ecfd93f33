import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { type Check, isReplayed, post, problemOf, writing } from './check.ts'

/** Of what is stored of an answer, and replayed. */
export const answers: readonly Check[] = [
  {
    name: 'A28: a second request is answered by the first: status, headers and content, and says so',
    async run({ serve, key, notes }) {
      const headers = [
        ['location', '/things/7'],
        ['content-type', 'text/plain; charset=utf-8'],
        ['etag', '"v1"'],
      ] as const
      const server = await serve(writing({ status: 201, headers, body: 'made é' }))
      const name = key('again')
      const [first, second] = [await post(server, name), await post(server, name)]
      for (const seen of [first, second]) {
        strictEqual(seen.status, 201)
        strictEqual(seen.text, 'made é')
        for (const [header, value] of headers) strictEqual(seen.headers.get(header), value)
        strictEqual(seen.headers.get('idempotency-key-retention'), '86400')
        strictEqual(seen.headers.get('content-length'), '7')
      }
      deepStrictEqual([isReplayed(first), isReplayed(second)], [false, true])
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'binary, text and empty content are replayed to the octet',
    async run({ serve, key }) {
      const contents = [Uint8Array.from([0, 255, 128, 10, 13]), '{"b":1,  "a":1.0}', '', undefined]
      for (const [at, body] of contents.entries()) {
        const server = await serve(writing({ status: 200, ...(body !== undefined && { body }) }))
        const name = key(`content ${at}`)
        const [first, second] = [await post(server, name), await post(server, name)]
        deepStrictEqual(first.bytes, Uint8Array.from(Buffer.from(body ?? '')))
        deepStrictEqual(second.bytes, first.bytes)
        ok(isReplayed(second))
      }
    },
  },
  {
    name: 'A13: a stream is taken to its end, stored, and replayed',
    async run({ serve, key, notes }) {
      const server = await serve(writing({ status: 201, stream: ['made', ' piece', ' by piece'] }))
      const name = key('stream')
      for (const { status, text } of [await post(server, name), await post(server, name)]) {
        deepStrictEqual([status, text], [201, 'made piece by piece'])
      }
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'A16: headers of several lines stay so, and what is of a moment or a caller is not replayed',
    async run({ serve, key }) {
      const server = await serve(
        writing({
          status: 201,
          headers: [
            ['link', '</a>; rel="a"'],
            ['link', '</b>; rel="b"'],
            ['content-disposition', 'attachment; filename="a,b.txt"'],
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
            ['x-request-id', '7'],
            ['x-kept', 'yes'],
          ],
        }),
        { storedHeaders: ['X-Kept'] },
      )
      const name = key('lines')
      const [first, second] = [await post(server, name), await post(server, name)]
      for (const { headers } of [first, second]) {
        strictEqual(headers.get('link'), '</a>; rel="a", </b>; rel="b"')
        strictEqual(headers.get('content-disposition'), 'attachment; filename="a,b.txt"')
        strictEqual(headers.get('x-kept'), 'yes')
      }
      deepStrictEqual(first.headers.getSetCookie(), ['a=1', 'b=2'])
      deepStrictEqual(second.headers.getSetCookie(), [])
      deepStrictEqual(
        [first.headers.get('x-request-id'), second.headers.get('x-request-id')],
        ['7', null],
      )
    },
  },
  {
    name: 'A15: an answer that is too large, or not encoded as it says, is 500, and everything is rolled back',
    async run({ serve, idempotency, key, notes }) {
      const small = idempotency.withOptions({ maxResponseBytes: 1_024 })
      const large = await serve(writing({ body: 'x'.repeat(2_000) }), { idempotency: small })
      const name = key('large')
      const seen = await post(large, name)
      deepStrictEqual([seen.status, problemOf(seen)['code']], [500, 'response_too_large'])
      const coded = await serve(writing({ headers: [['content-encoding', 'gzip']], body: 'x' }))
      strictEqual((await post(coded, name)).status, 500)
      strictEqual(await notes(name), 0)
    },
  },
  {
    name: 'F10: a page of another origin may read how it ended, where it is to',
    async run({ serve, key }) {
      const server = await serve(writing(), { exposeHeaders: true })
      const name = key('exposed')
      const seen = [await post(server, name), await post(server, name), await post(server, name, 1)]
      for (const { headers } of seen) {
        const exposed = 'Idempotent-Replayed, Idempotency-Key-Retention, Retry-After, Link'
        strictEqual(headers.get('access-control-expose-headers'), exposed)
      }
    },
  },
]
