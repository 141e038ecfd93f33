import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'

import { sql } from 'kysely'

import { type Check, post, problemOf, write, writing } from './check.ts'
import type { Handler } from './server.ts'

/** Of handlers that do not do as they should, and of a COMMIT that fails. */
export const failures: readonly Check[] = [
  {
    name: 'A1, A9: a handler that throws has done nothing, and the key is free',
    async run({ serve, key, notes }) {
      let runs = 0
      const server = await serve(async ({ call }) => {
        await write(call)
        runs += 1
        if (runs === 1) throw new Error('own')
        return { status: 201, body: 'made' }
      })
      const name = key('throws')
      strictEqual((await post(server, name)).status, 500)
      strictEqual(await notes(name), 0)
      strictEqual((await post(server, name)).status, 201)
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'A23: an error handler answers, and only what is final is stored',
    needs: 'error handler',
    async run({ serve, key, notes }) {
      const onError = () => ({ status: 402, body: 'no credit' })
      const failing: Handler = async ({ call }) => {
        await write(call)
        throw new Error('own')
      }
      const name = key('error handler')
      const passing = await serve(failing, { onError })
      for (const seen of [await post(passing, name), await post(passing, name)]) {
        deepStrictEqual([seen.status, seen.text], [402, 'no credit'])
        strictEqual(seen.headers.get('idempotent-replayed'), null)
      }
      const final = await serve(failing, { onError, finalStatuses: [402] })
      strictEqual((await post(final, name)).headers.get('idempotent-replayed'), null)
      const again = await post(final, name)
      deepStrictEqual([again.status, again.headers.get('idempotent-replayed')], [402, 'true'])
      strictEqual(await notes(name), 0)
    },
  },
  {
    name: 'what a handler has declared final, and throws, is final by what an error handler makes of it',
    needs: 'error handler',
    async run({ serve, key, notes }) {
      const onError = () => ({ status: 402, body: 'no credit' })
      const server = await serve(
        async ({ call }) => {
          await write(call)
          throw call.context.reject(new Error('no credit'))
        },
        { onError },
      )
      const name = key('declared')
      const [first, second] = [await post(server, name), await post(server, name)]
      deepStrictEqual([first.status, first.headers.get('idempotent-replayed')], [402, null])
      deepStrictEqual([second.status, second.headers.get('idempotent-replayed')], [402, 'true'])
      strictEqual(await notes(name), 0)
    },
  },
  {
    name: 'a handler whose statement has failed cannot answer as if nothing had happened',
    async run({ serve, key, notes }) {
      const server = await serve(async ({ call }) => {
        await write(call)
        await sql`select 1 / 0`.execute(call.tx).catch(() => undefined)
        return { status: 201, body: 'made' }
      })
      const name = key('swallowed')
      strictEqual((await post(server, name)).status, 500)
      strictEqual(await notes(name), 0)
    },
  },
  {
    name: 'a handler that never answers is given up: 503, nothing is left, and the key is free',
    async run({ serve, key, notes }) {
      const never: Handler = async ({ call }) => {
        await write(call)
        return undefined
      }
      const server = await serve(never, { deadlineMs: 500 })
      const name = key('never')
      const seen = await post(server, name)
      deepStrictEqual([seen.status, problemOf(seen)['code']], [503, 'unavailable'])
      match(String(seen.headers.get('retry-after')), /^[1-9]/)
      strictEqual(await notes(name), 0)
      strictEqual((await post(await serve(writing()), name)).status, 201)
    },
  },
  {
    name: 'a handler that answers twice has answered by the first',
    needs: 'answers twice',
    async run({ serve, key, notes }) {
      const server = await serve(async ({ call, end }) => {
        await write(call)
        end?.({ status: 201, body: 'first' })
        return { status: 202, headers: [['location', '/second']], body: 'second' }
      })
      const name = key('twice')
      for (const replayed of [null, 'true']) {
        const { status, text, headers } = await post(server, name)
        deepStrictEqual([status, text, headers.get('location')], [201, 'first', null])
        strictEqual(headers.get('idempotent-replayed'), replayed)
      }
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'a handler that throws behind its answer has failed: 500, and nothing is left',
    needs: 'throws behind its answer',
    async run({ serve, key, notes }) {
      const server = await serve(async ({ call, end }) => {
        await write(call)
        end?.({ status: 201, body: 'made' })
        throw new Error('own')
      })
      const name = key('throws behind')
      strictEqual((await post(server, name)).status, 500)
      strictEqual(await notes(name), 0)
    },
  },
  {
    name: 'an answer is sent when it is committed, and not where COMMIT fails',
    async run({ serve, key, notes }) {
      const server = await serve(async ({ call }) => {
        await write(call)
        // Refused by the database at COMMIT.
        await sql`insert into notes_later (key) values (${call.context.key})`.execute(call.tx)
        return { status: 201, body: 'made' }
      })
      const name = key('refused at commit')
      const seen = await post(server, name)
      deepStrictEqual([seen.status, seen.text === 'made'], [500, false])
      strictEqual(await notes(name), 0)
    },
  },
]
