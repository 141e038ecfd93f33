import { deepStrictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createSink } from 'oncely/sink'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const proxy = wireProxy(database.url)

describe('the answer to COMMIT does not come to a sink: outcome_unknown, and it is safe to repeat', () => {
  for (const [fate, kind] of [
    ['lost before', 'applied'],
    ['lost behind', 'duplicate'],
    // The sink's 10 seconds.
    ['stalled behind', 'duplicate'],
  ] as const) {
    it(fate, async () => {
      const db = database.connect({ connectionString: proxy.url(), max: 2 })
      const receive = () => createSink(db, { consumer: 'c' }).receive({ id: fate }, () => 'value')
      proxy.meddle(fate)
      const { code } = (await failureOf(receive())) as { code?: string }
      deepStrictEqual([code, (await receive()).kind], ['outcome_unknown', kind])
      // A plain host has the stalled connection back when the link breaks, and then both places.
      proxy.cut()
      await Promise.allSettled([1, 2].map(() => sql`select 1`.execute(db)))
    })
  }
})
