import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { type Check, post, problemOf, type Seen, write, writing } from './check.ts'

const isReplayed = ({ headers }: Seen) => headers.get('idempotent-replayed') === 'true'

/** Of what is stored and replayed. */
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
    name: '2xx and 3xx are stored',
    async run({ serve, key, notes }) {
      for (const status of [200, 201, 202, 204, 303, 307]) {
        const headers = status >= 300 ? [['location', '/elsewhere'] as const] : []
        const server = await serve(writing({ status, headers }))
        const name = key(`stored ${status}`)
        const more = { redirect: 'manual' } as const
        const [first, second] = [
          await post(server, name, {}, more),
          await post(server, name, {}, more),
        ]
        deepStrictEqual([first.status, second.status, isReplayed(second)], [status, status, true])
        strictEqual(await notes(name), 1)
      }
    },
  },
  {
    name: 'A11, A12: 4xx and 5xx are rolled back and not stored, unless they are named final',
    async run({ serve, key, notes }) {
      for (const status of [400, 404, 409, 422, 429, 500, 503]) {
        const server = await serve(writing({ status, body: 'no' }))
        const name = key(`passing ${status}`)
        for (const seen of [await post(server, name), await post(server, name)]) {
          deepStrictEqual([seen.status, seen.text, isReplayed(seen)], [status, 'no', false])
          strictEqual(seen.headers.get('idempotency-key-retention'), null)
        }
        strictEqual(await notes(name), 0)
      }
      for (const status of [402, 409, 410, 422]) {
        const server = await serve(writing({ status, body: 'never' }), {
          finalStatuses: 'business',
        })
        const name = key(`final ${status}`)
        const [first, second] = [await post(server, name), await post(server, name)]
        deepStrictEqual([first.status, first.text], [status, 'never'])
        deepStrictEqual([second.status, second.text, isReplayed(second)], [status, 'never', true])
        strictEqual(await notes(name), 0)
      }
    },
  },
  {
    name: 'context.reject makes a refusal final: its writes are undone, and it is replayed',
    async run({ serve, key, notes }) {
      const server = await serve(async ({ call }) => {
        await write(call)
        return call.context.reject({ status: 402, body: 'no credit' })
      })
      const name = key('reject')
      const [first, second] = [await post(server, name), await post(server, name)]
      deepStrictEqual([first.status, first.text, isReplayed(first)], [402, 'no credit', false])
      deepStrictEqual([second.status, second.text, isReplayed(second)], [402, 'no credit', true])
      strictEqual(await notes(name), 0)
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
    name: 'A15: an answer that is too large, or compressed already, is 500, and everything is rolled back',
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
