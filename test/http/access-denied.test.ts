// `authorize` over HTTP: what is stored is not for whoever may no longer see it.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, problemOf, type Seen, send, write } from './conformance/check.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

const statusAndCode = (seen: Seen) => [seen.status, problemOf(seen)['code']]
const denied = [403, 'access_denied']

for (const adapter of adapters) {
  describe(`authorize, on ${adapter.name}`, () => {
    const rights = `rights_${adapter.name}`
    const grant = () =>
      sql`insert into ${sql.table(rights)} values ('u1')`.execute(database.watcher)
    const start = async () => {
      await sql`create table if not exists ${sql.table(rights)} (actor text)`.execute(
        database.watcher.withSchema('public'),
      )
      await grant()
      const idempotency = createIdempotency(host.connect()).withOptions({
        async authorize(tx, { scope }) {
          const held = sql`select from ${sql.table(rights)} where actor = ${scope.actor}`
          return (await held.execute(tx)).rows.length > 0
        },
      })
      return serve(adapter, {
        idempotency,
        async handler({ call }) {
          await write(call)
          if (call.context.key.startsWith('refused')) {
            return call.context.reject({ status: 402, body: 'no credit of yours' })
          }
          return { status: 201, headers: [['location', '/things/7']], body: 'secret' }
        },
      })
    }
    const revoke = () => sql`delete from ${sql.table(rights)}`.execute(database.watcher)

    it('that says no: 403 in place of an answer and of a refusal, which are told nothing of', async () => {
      const server = await start()
      const keys = [`made ${adapter.name}`, `refused ${adapter.name}`]
      for (const [at, key] of keys.entries()) {
        const { status, text } = await post(server, key)
        deepStrictEqual([status, (await post(server, key)).text], [[201, 402][at], text])
      }
      await revoke()
      for (const key of keys) {
        const look = { method: 'GET', path: '/lookup', key: `"${key}"`, type: '' }
        for (const seen of [await post(server, key), await send(server, look)]) {
          deepStrictEqual(statusAndCode(seen), denied)
          for (const header of ['location', 'idempotent-replayed', 'idempotency-key-retention']) {
            strictEqual(seen.headers.get(header), null)
          }
          strictEqual(/secret|credit/.test(seen.text), false)
          strictEqual(seen.headers.get('cache-control'), 'no-store')
        }
        strictEqual((await post(server, key, { sku: 'other' })).status, 422)
      }
      await grant()
      deepStrictEqual((await post(server, keys[0] ?? '')).text, 'secret')
    })

    it('is not asked of a first request, which runs', async () => {
      const server = await start()
      await revoke()
      const key = `first ${adapter.name}`
      strictEqual((await post(server, key)).status, 201)
      deepStrictEqual(statusAndCode(await post(server, key)), denied)
      strictEqual((await host.left(key)).notes.length, 1)
    })
  })
}
