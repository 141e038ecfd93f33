import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { type Check, isReplayed, post, write, writing } from './check.ts'

/** Of which answers are stored. */
export const statuses: readonly Check[] = [
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
]
