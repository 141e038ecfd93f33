import { deepStrictEqual, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { beside, failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  notesHost,
  one,
  other,
  PATIENCE_MS,
  scope,
  writeNote,
  written,
} from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)
const options = { lockTimeoutMs: PATIENCE_MS, resolveTimeoutMs: PATIENCE_MS }
const direct = createIdempotency(host.connect(), options)

/** A call whose commit is lost, and looked up only when something else has happened. */
async function lostCall(
  key: string,
  fate: 'lost before' | 'lost behind',
  meanwhile: () => unknown,
) {
  const db = host.connect({ connectionString: proxy.url(), max: 1 })
  await sql`select 1`.execute(db)
  proxy.meddle(fate)
  proxy.refuse(true)
  const pending = beside(createIdempotency(db, options).withIdempotency(scope, key, one, writeNote))
  try {
    await proxy.untilRefused()
    await meanwhile()
  } finally {
    proxy.refuse(false)
  }
  return pending
}

describe('the commit was lost, and by the time it is looked up', () => {
  it('a twin has executed the key: its response is replayed, and nothing ran twice', async () => {
    const result = await lostCall('twin', 'lost before', () =>
      direct.withIdempotency(scope, 'twin', one, async (tx, context) => {
        await writeNote(tx, context)
        return 'of the twin'
      }),
    )
    deepStrictEqual(result, { ok: true, kind: 'replayed', value: 'of the twin' })
    deepStrictEqual(await host.left('twin'), written)
  })

  it('A3: somebody has used the key for something else: a conflict, before anything else', async () => {
    const result = await lostCall('conflict', 'lost before', () =>
      direct.withIdempotency(scope, 'conflict', other, writeNote),
    )
    deepStrictEqual(result, { ok: false, kind: 'conflict' })
  })

  it('a twin has executed the key, and its record has expired: expired', async () => {
    const result = await lostCall('expired twin', 'lost before', async () => {
      await direct.withIdempotency(scope, 'expired twin', one, writeNote)
      await direct.expire(scope, 'expired twin')
    })
    deepStrictEqual(result, { ok: false, kind: 'expired' })
  })

  it('its own record has become a tombstone: executed all the same', async () => {
    const result = await lostCall('tombstone', 'lost behind', () =>
      direct.expire(scope, 'tombstone'),
    )
    deepStrictEqual(result, { ok: true, kind: 'executed', value: 'note', recovered: true })
  })

  it('a twin holds the key and has not ended: a definite error, without waiting for it', async () => {
    const held = Promise.withResolvers<undefined>()
    const end = Promise.withResolvers<undefined>()
    let twin: Promise<unknown> | undefined
    try {
      const failure = await failureOf(
        lostCall('held', 'lost before', async () => {
          twin = beside(
            direct.withIdempotency(scope, 'held', one, async (tx, context) => {
              await writeNote(tx, context)
              held.resolve(undefined)
              await end.promise
            }),
          )
          await Promise.race([held.promise, twin])
        }),
      )
      ok(failure instanceof Error)
    } finally {
      end.resolve(undefined)
    }
    await twin
    deepStrictEqual(await host.left('held'), written)
  })

  it('its record was deleted by hand: not executed, as nobody can tell otherwise', async () => {
    const failure = await failureOf(
      lostCall('deleted', 'lost behind', () =>
        sql`delete from idem.records where key = 'deleted'`.execute(database.watcher),
      ),
    )
    ok(failure instanceof Error)
    deepStrictEqual((await host.left('deleted')).records, [])
  })
})
