import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { request } from 'node:http'

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

/** Of requests that come while the first is under way. */
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
]
