// A handler that asks somebody else, and a transaction that fails behind it.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { notesHost } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, write } from './conformance/check.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

for (const adapter of adapters) {
  describe(`a payment in the handler, on ${adapter.name}`, () => {
    for (const code of ['40001', '40P01']) {
      it(`A33: and ${code} behind it: asked once a request, under one key, also with retry`, async () => {
        const key = `${code} ${adapter.name}`
        const asked: string[] = []
        const charges = new Map<string, string>()
        const fail = sql.raw(`do $$ begin raise exception 'x' using errcode = '${code}'; end $$`)
        const idempotency = createIdempotency(host.connect(), { retry: { attempts: 3 } })
        const server = await serve(adapter, {
          idempotency,
          async handler({ call }) {
            await write(call)
            const charge = call.context.childKey('charge')
            asked.push(charge)
            // As a provider does that knows such keys.
            if (!charges.has(charge)) charges.set(charge, `charge ${charges.size + 1}`)
            if (asked.length < 3) await fail.execute(call.tx)
            return { status: 201, body: String(charges.get(charge)) }
          },
        })
        for (const times of [1, 2]) {
          strictEqual((await post(server, key)).status, 500)
          strictEqual(asked.length, times)
          strictEqual((await host.left(key)).notes.length, 0)
        }
        for (const replayed of [null, 'true']) {
          const { status, text, headers } = await post(server, key)
          deepStrictEqual(
            [status, text, headers.get('idempotent-replayed')],
            [201, 'charge 1', replayed],
          )
        }
        strictEqual(asked.length, 3)
        strictEqual((await host.left(key)).notes.length, 1)
        await post(server, `${key} again`)
        deepStrictEqual([...charges.values()], ['charge 1', 'charge 2'])
      })
    }
  })
}
