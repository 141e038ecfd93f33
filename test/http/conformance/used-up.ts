import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'

import { type Check, post, problemOf, write, writing } from './check.ts'

/** Of a key that is past its time, and of a budget that is spent. */
export const usedUp: readonly Check[] = [
  {
    name: 'A31: past the replay window it is 410, and nothing runs again',
    async run({ serve, idempotency, key, notes }) {
      const server = await serve(async ({ call }) => {
        await write(call)
        call.context.resource({ type: 'thing', id: '7' })
        return { status: 201, body: 'made' }
      })
      const name = key('expired')
      await post(server, name)
      await idempotency.expire({ tenant: 't1', actor: 'u1', operation: 'things.make' }, name)
      const seen = await post(server, name)
      deepStrictEqual([seen.status, problemOf(seen)['code']], [410, 'key_expired'])
      deepStrictEqual(problemOf(seen)['resource'], { type: 'thing', id: '7' })
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'a scope that has used up its budget is 429, and is told when to come again',
    async run({ serve, idempotency, key }) {
      const quota = { limit: 1, windowMs: 60_000 }
      const server = await serve(writing(), {
        idempotency: idempotency.withOptions({ quota }) as never,
      })
      const more = { headers: { 'x-actor': key('spender') } }
      strictEqual((await post(server, key('budget 1'), {}, more)).status, 201)
      const seen = await post(server, key('budget 2'), {}, more)
      deepStrictEqual([seen.status, problemOf(seen)['code']], [429, 'quota_exceeded'])
      match(String(seen.headers.get('retry-after')), /^[1-9]/)
    },
  },
]
