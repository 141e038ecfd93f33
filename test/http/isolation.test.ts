// A role whose transactions are stricter than ours: two requests with one key, over HTTP.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, PATIENCE_MS } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, write } from './conformance/check.ts'
import type { Handler } from './conformance/server.ts'
import { servers } from './servers.ts'

const host = notesHost(testDatabase())
const serve = servers()

for (const adapter of adapters) {
  describe(`a role with another isolation, on ${adapter.name}`, () => {
    for (const isolation of ['serializable', 'repeatable read']) {
      it(`A35: ${isolation}: the second waits and is given the answer of the first, and the key is fine`, async () => {
        const key = `${isolation} ${adapter.name}`
        const twin = `twin ${adapter.name} ${isolation}`
        using hold = gate()
        const handler: Handler = async ({ call }) => {
          const { rows } = await sql<{ now: string }>`
            select current_setting('transaction_isolation') as now`.execute(call.tx)
          await write(call)
          await hold.pass()
          return { status: 201, body: String(rows[0]?.now) }
        }
        const start = async (name: string) => {
          const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
          const db = host.connect({ application_name: name, options })
          const set = sql<{ default_transaction_isolation: string }>`
            show default_transaction_isolation`
          strictEqual((await set.execute(db)).rows[0]?.default_transaction_isolation, isolation)
          return serve(adapter, {
            idempotency: createIdempotency(db, { lockTimeoutMs: PATIENCE_MS }),
            handler,
          })
        }
        const [storefront, webhook] = [await start(key), await start(twin)]

        const first = beside(post(storefront, key))
        await stopsAt(hold, first)
        const second = beside(post(webhook, key))
        await host.untilWaiting(twin)
        hold.open()
        const seen = [await first, await second, await post(storefront, key)]
        deepStrictEqual(
          seen.map(({ status, text, headers }) => [
            status,
            text,
            headers.get('idempotent-replayed'),
          ]),
          [
            [201, 'read committed', null],
            [201, 'read committed', 'true'],
            [201, 'read committed', 'true'],
          ],
        )
        strictEqual((await host.left(key)).notes.length, 1)
      })
    }
  })
}
