// A handler that is at work for longer than anything: its key is never taken from it.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { notesHost, PATIENCE_MS } from '../support/notes-host.ts'
import { adapters } from './conformance/adapters.ts'
import { post, problemOf, type Seen, write } from './conformance/check.ts'
import type { Handler } from './conformance/server.ts'
import { servers } from './servers.ts'

const database = testDatabase()
const host = notesHost(database)
const serve = servers()

const statusAndCode = (seen: Seen) => [seen.status, problemOf(seen)['code']]
const outstanding = [409, 'request_outstanding']
const expired = [410, 'key_expired']

for (const adapter of adapters) {
  describe(`a handler at work past its replay window, on ${adapter.name}`, () => {
    it('A7: whoever comes is told so, or waits; a sweep leaves it alone; nothing runs twice', async () => {
      const key = `long ${adapter.name}`
      const waiting = `waiting ${adapter.name}`
      using hold = gate()
      let runs = 0
      const handler: Handler = async ({ call }) => {
        runs += 1
        await write(call)
        await hold.pass()
        return { status: 201, body: 'made' }
      }
      const start = (name: string, lockTimeoutMs: number) => {
        const db = host.connect({ application_name: name })
        // Over at once.
        const idempotency = createIdempotency(db, { lockTimeoutMs, replayWindowMs: 1 })
        return serve(adapter, { idempotency, handler })
      }
      const hasty = await start('hasty', 1)
      const patient = await start(waiting, PATIENCE_MS)

      const first = beside(post(hasty, key))
      await stopsAt(hold, first)
      const second = beside(post(patient, key))
      await host.untilWaiting(waiting)
      const admin = createIdempotency(database.connect())
      await admin.sweep()
      await admin.purge()
      for (let at = 0; at < 3; at += 1) {
        deepStrictEqual(statusAndCode(await post(hasty, key)), outstanding)
      }
      hold.open()
      deepStrictEqual([(await first).status, (await first).text], [201, 'made'])
      // Not by the answer any more, and never by a second run.
      for (const seen of [await second, await post(hasty, key)]) {
        deepStrictEqual(statusAndCode(seen), expired)
      }
      strictEqual(runs, 1)
      strictEqual((await host.left(key)).notes.length, 1)
    })
  })
}
