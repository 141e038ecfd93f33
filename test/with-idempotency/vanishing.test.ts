import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import type { LogConfig } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, stopsAt } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, one, other, scope } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)
const first = createIdempotency(host.connect())

const isClaim = (text: string) => text.startsWith('insert into "idem"."records"')
const isRead = (text: string) => /^select [^]* from "idem"\."records"/.test(text)

/**
 * Kysely waits for its logger, which makes it a place to stop a call behind one statement, where
 * statements do not travel together.
 */
function caller(log: LogConfig) {
  return createIdempotency(host.connect({ log, manners: hosts.plain }))
}

async function purge(key: string): Promise<void> {
  const { numDeletedRows } = await database.watcher
    .deleteFrom('records')
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  strictEqual(numDeletedRows, 1n)
}

/** The key is committed; a second call loses the claim, and `change` happens before it reads. */
async function between(key: string, change: () => Promise<unknown>) {
  await first.withIdempotency(scope, key, one, () => 'first')
  using hold = gate()
  const slow = caller(async ({ query }) => {
    if (isClaim(query.sql)) await hold.pass()
  })
  const call = beside(slow.withIdempotency(scope, key, one, () => 'second'))
  await stopsAt(hold, call)
  await change()
  hold.open()
  return await call
}

describe('between the lost claim and the read, the record', () => {
  it('C2: is purged: the call claims again and executes', async () => {
    const result = await between('purged', () => purge('purged'))
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'second' })
    deepStrictEqual((await host.left('purged')).records, ['completed'])
  })

  it('becomes a tombstone: the call is told so', async () => {
    const result = await between('expired', () => first.expire(scope, 'expired'))
    deepStrictEqual(result, { ok: false, kind: 'expired' })
  })

  it('A3, A7: becomes that of another intent: the read sees it and the call conflicts', async () => {
    const result = await between('renewed', async () => {
      await purge('renewed')
      await first.withIdempotency(scope, 'renewed', other, () => 'other')
    })
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })

  it('C2: vanishes every time: the call gives up, without a reason of PostgreSQL', async () => {
    let rounds = 0
    const run = () => first.withIdempotency(scope, 'restless', one, () => 'again')
    await run()
    const restless = caller(async ({ query }) => {
      if (isClaim(query.sql)) await purge('restless')
      if (isRead(query.sql)) {
        rounds += 1
        await run()
      }
    })
    const result = await restless.withIdempotency(scope, 'restless', one, () => 'never')
    deepStrictEqual(result, { ok: false, kind: 'in_progress', retryAfterMs: 1_000 })
    strictEqual(rounds > 1, true)
  })
})
