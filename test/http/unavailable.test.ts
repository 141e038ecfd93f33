// 503 `unavailable` over HTTP: nothing took effect, and the same may be sent again.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'

import { createIdempotency, type IdempotencyOptions } from 'oncely'

import { beside } from '../support/calls.ts'
import { type ConnectOptions, testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, PATIENCE_MS } from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { adapters } from './conformance/adapters.ts'
import { post, problemOf, type Seen, send, write, writing } from './conformance/check.ts'
import type { Adapter } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
const serve = servers()

// A stalled connection is kept until the link breaks.
afterEach(() => {
  proxy.refuse(false)
  proxy.cut()
})

const notes = async (key: string) => (await host.left(key)).notes.length

const through = (options: IdempotencyOptions = {}, pool: ConnectOptions = {}) => {
  const manners = hosts.oncelyDialect
  return createIdempotency(host.connect({ connectionString: proxy.url(), manners, ...pool }), {
    lockTimeoutMs: PATIENCE_MS,
    ...options,
  })
}

function isUnavailable(seen: Seen): void {
  const { status, headers } = seen
  deepStrictEqual([status, problemOf(seen)['code']], [503, 'unavailable'])
  deepStrictEqual([headers.get('retry-after'), headers.get('cache-control')], ['1', 'no-store'])
}

for (const adapter of adapters) {
  describe(`no database, on ${adapter.name}`, () => {
    for (const readFirst of [false, true]) {
      const how = readFirst ? 'that is read first' : 'that is claimed'

      it(`that can be reached, for a key ${how}: 503, no handler runs, and the key is free`, async () => {
        const name = `unreached ${adapter.name} ${readFirst}`
        let runs = 0
        const server = await serve(adapter, {
          idempotency: through({ readFirst }),
          async handler({ call }) {
            runs += 1
            await write(call)
            return { status: 201, body: 'made' }
          },
        })
        proxy.refuse(true)
        isUnavailable(await post(server, name))
        strictEqual(runs, 0)
        proxy.refuse(false)
        const again = await post(server, name)
        deepStrictEqual([again.status, again.headers.get('idempotent-replayed')], [201, null])
        strictEqual(await notes(name), 1)
      })
    }

    it('that can be reached, for a look at a key: 503, and not that nothing is there', async () => {
      const name = `looked for ${adapter.name}`
      const server = await serve(adapter, { idempotency: through(), handler: writing() })
      const look = () =>
        send(server, { method: 'GET', path: '/lookup', key: `"${name}"`, type: '' })
      strictEqual((await post(server, name)).status, 201)
      proxy.refuse(true)
      proxy.cut()
      // The first may still get the connection that was cut.
      for (let at = 0; at < 2; at += 1) isUnavailable(await look())
      proxy.refuse(false)
      const { text, headers } = await look()
      deepStrictEqual([text, headers.get('cache-control')], ['made', 'no-store'])
    })

    it('that has a connection for it before its deadline: 503, and no handler runs', async () => {
      using hold = gate()
      const idempotency = through({}, { max: 1 })
      const holder = await serve(adapter, {
        idempotency,
        async handler() {
          await hold.pass()
          return { status: 201 }
        },
      })
      const server = await serve(adapter, {
        idempotency,
        handler: writing(),
        route: { deadlineMs: 500 },
      })
      const name = `queueing ${adapter.name}`
      const holding = beside(post(holder, `holding ${adapter.name}`))
      await hold.reached
      isUnavailable(await post(server, name))
      strictEqual(await notes(name), 0)
      hold.open()
      strictEqual((await holding).status, 201)
      strictEqual((await post(server, name)).status, 201)
    })
  })
}

describe('COMMIT that stalls on its way', () => {
  it('C6: 503 which says that nothing took effect, and the key is free', async () => {
    const [adapter] = adapters as [Adapter]
    const idempotency = through({ resolveTimeoutMs: 1_500 })
    const server = await serve(adapter, { idempotency, handler: writing() })
    proxy.meddle('stalled before')
    isUnavailable(await post(server, 'stalled'))
    strictEqual(await notes('stalled'), 0)
    const again = await post(server, 'stalled')
    deepStrictEqual([again.status, again.headers.get('idempotent-replayed')], [201, null])
    strictEqual(await notes('stalled'), 1)
  })
})
