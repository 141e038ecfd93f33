// COMMIT was sent, and its answer is lost on the way to a server of HTTP: what the client is told.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, PATIENCE_MS } from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'
import { adapters } from './conformance/adapters.ts'
import { post, problemOf, type Seen, send, write } from './conformance/check.ts'
import type { Adapter, Handler } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
const serve = servers()

const isReplayed = ({ headers }: Seen) => headers.get('idempotent-replayed') === 'true'
const notes = async (key: string) => (await host.left(key)).notes.length

const handler: Handler = async ({ call }) => {
  await write(call)
  // Which is no part of what is stored.
  const headers = [['set-cookie', 'seen=1']] as const
  if (call.context.key.startsWith('refused')) {
    return call.context.reject({ status: 402, headers, body: 'no credit' })
  }
  return { status: 201, headers, body: 'made' }
}

/** A server whose connections go through the proxy, and one that is there already. */
async function through(adapter: Adapter, resolveTimeoutMs = PATIENCE_MS) {
  const manners = hosts.oncelyDialect
  const db = host.connect({ connectionString: proxy.url(), max: 2, manners })
  await sql`select 1`.execute(db)
  const options = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs, retryAfterMs: 2_345 }
  return serve(adapter, { idempotency: createIdempotency(db, options), handler })
}

for (const adapter of adapters) {
  describe(`the answer to COMMIT is lost, on ${adapter.name}`, () => {
    for (const [key, status, body, left] of [
      ['made', 201, 'made', 1],
      ['refused', 402, 'no credit', 0],
    ] as const) {
      it(`C6: and found out: ${status} of the handler itself, which is no replay; the next one is`, async () => {
        const name = `${key} ${adapter.name}`
        const server = await through(adapter)
        proxy.meddle('lost behind')
        const [first, second] = [await post(server, name), await post(server, name)]
        for (const seen of [first, second]) {
          deepStrictEqual([seen.status, seen.text], [status, body])
          strictEqual(seen.headers.get('idempotency-key-retention'), '86400')
        }
        deepStrictEqual([isReplayed(first), isReplayed(second)], [false, true])
        deepStrictEqual(first.headers.getSetCookie(), ['seen=1'])
        deepStrictEqual(second.headers.getSetCookie(), [])
        strictEqual(await notes(name), left)
      })
    }

    for (const [fate, replayed] of [
      ['lost before', false],
      ['lost behind', true],
    ] as const) {
      it(`C6: ${fate}, and not found out: 503, and the same again ends in the truth`, async () => {
        const name = `${fate} ${adapter.name}`
        const server = await through(adapter, 300)
        proxy.meddle(fate)
        proxy.refuse(true)
        const seen = await post(server, name).finally(() => {
          proxy.refuse(false)
        })
        deepStrictEqual([seen.status, problemOf(seen)['code']], [503, 'outcome_unknown'])
        deepStrictEqual(
          ['retry-after', 'cache-control', 'set-cookie', 'idempotency-key-retention'].map(
            (header) => seen.headers.get(header),
          ),
          ['3', 'no-store', null, null],
        )
        const again = await post(server, name)
        deepStrictEqual([again.status, again.text, isReplayed(again)], [201, 'made', replayed])
        strictEqual(await notes(name), 1)
        const look = { method: 'GET', path: '/lookup', key: `"${name}"`, type: '' }
        strictEqual((await send(server, look)).text, 'made')
      })
    }
  })
}
