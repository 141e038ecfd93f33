import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { request } from 'node:http'

import { sql } from 'kysely'

import { type Gate, gate } from '../../support/gate.ts'
import { type Check, post, problemOf, send, write, writing } from './check.ts'
import type { Handler } from './server.ts'

/** Writes a note, and answers once it is let go on. */
function stoppingAt(stop: Gate): Handler {
  return async ({ call }) => {
    await write(call)
    await stop.pass()
    return { status: 201, headers: [['location', '/things/7']], body: 'made' }
  }
}

/** Of requests at once, and of handlers that do not do as they should. */
export const underWay: readonly Check[] = [
  {
    name: 'A27: while the first is under way the second is 409, and is told when to come again',
    async run({ serve, key, notes }) {
      const stop = gate()
      const server = await serve(stoppingAt(stop))
      const name = key('under way')
      const first = post(server, name)
      await stop.reached
      const second = await post(server, name)
      deepStrictEqual([second.status, problemOf(second)['code']], [409, 'request_outstanding'])
      strictEqual(problemOf(second)['title'], 'A request is outstanding for this Idempotency-Key')
      match(String(second.headers.get('retry-after')), /^[1-9][0-9]*$/)
      stop.open()
      strictEqual((await first).status, 201)
      strictEqual((await post(server, name)).headers.get('idempotent-replayed'), 'true')
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'A34: 50 at once take effect once, and all are answered by the first or told to come again',
    async run({ serve, key, notes }) {
      const server = await serve(writing())
      const name = key('crowd')
      const crowd = await Promise.all(Array.from({ length: 50 }, () => post(server, name)))
      const statuses = new Set(crowd.map(({ status }) => status))
      for (const status of statuses) match(String(status), /^(201|409)$/)
      const firsts = crowd.filter(
        ({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'),
      )
      strictEqual(firsts.length, 1)
      strictEqual(await notes(name), 1)
    },
  },
  {
    name: 'A22: a client that hangs up changes nothing: the result is stored, and its retry is answered',
    async run({ serve, key, notes }) {
      const stop = gate()
      const server = await serve(stoppingAt(stop))
      const name = key('hang-up')
      const sent = request(`${server.url}/things/1`, {
        method: 'POST',
        headers: { 'idempotency-key': `"${name}"`, 'content-type': 'application/json' },
      })
      sent.on('error', () => undefined)
      sent.end('{"sku":"A"}')
      await stop.reached
      sent.destroy()
      stop.open()
      let seen = await post(server, name)
      // Until the first has ended, which nobody waits for any more.
      while (seen.status === 409) seen = await post(server, name)
      deepStrictEqual(
        [seen.status, seen.text, seen.headers.get('idempotent-replayed')],
        [201, 'made', 'true'],
      )
      strictEqual(await notes(name), 1)
    },
  },
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
      let runs = 0
      const server = await serve(
        async ({ call }) => {
          await write(call)
          runs += 1
          return runs === 1 ? undefined : { status: 201, body: 'made' }
        },
        { deadlineMs: 500 },
      )
      const name = key('never')
      const seen = await post(server, name)
      deepStrictEqual([seen.status, problemOf(seen)['code']], [503, 'unavailable'])
      match(String(seen.headers.get('retry-after')), /^[1-9]/)
      strictEqual(await notes(name), 0)
      strictEqual((await post(server, name)).status, 201)
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
      for (const seen of [await post(server, name), await post(server, name)]) {
        // Node refuses the second, by an error of the handler.
        if (seen.status === 500) continue
        deepStrictEqual(
          [seen.status, seen.text, seen.headers.get('location')],
          [201, 'first', null],
        )
      }
      strictEqual((await notes(name)) <= 1, true)
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
    name: 'a look at a key tells what is committed, and executes nothing',
    async run({ serve, key, notes }) {
      const stop = gate()
      const server = await serve(stoppingAt(stop))
      const name = key('look')
      const look = () =>
        send(server, { method: 'GET', path: '/lookup', key: `"${name}"`, type: '' })
      const absent = await look()
      deepStrictEqual([absent.status, problemOf(absent)['code']], [404, 'key_absent'])
      const first = post(server, name)
      await stop.reached
      const open = await look()
      deepStrictEqual([open.status, problemOf(open)['code']], [409, 'request_outstanding'])
      stop.open()
      await first
      const made = await look()
      deepStrictEqual(
        [made.status, made.text, made.headers.get('location')],
        [201, 'made', '/things/7'],
      )
      const others = await send(server, {
        ...{ method: 'GET', path: '/lookup', key: `"${name}"`, type: '' },
        headers: { 'x-actor': 'u2' },
      })
      strictEqual(others.status, 404)
      strictEqual((await send(server, { method: 'GET', path: '/lookup', type: '' })).status, 400)
      strictEqual(await notes(name), 1)
    },
  },
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
