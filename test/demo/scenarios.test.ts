import { deepStrictEqual, ok } from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'

import { sql } from 'kysely'
import { migrateToLatest } from 'oncely/migrations'

import { scenarios } from '../../examples/demo/scenarios.ts'
import { openStage } from '../../examples/demo/stage.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

/** What the two sides say is for people; a test looks at it instead of printing it. */
function listen(t: TestContext): () => string {
  const log = t.mock.method(console, 'log', () => undefined)
  return () => log.mock.calls.map(({ arguments: args }) => args.join(' ')).join('\n')
}

// In order: the later ones build on what the earlier ones left.
describe('the scenarios of the demo', { timeout: 30_000 }, () => {
  const stage = openStage(database.url, 'stage')

  before(() => migrateToLatest(stage.watcher, { schema: stage.schema, withOrders: true }))
  after(() => stage.leave())

  for (const scenario of scenarios) {
    it(scenario.title, async (t) => {
      const said = listen(t)
      await scenario.play(stage)
      ok(said().includes('→'), said())
      if (scenario.title.includes('timeout')) ok(said().includes('55P03'), said())
    })
  }

  it('are eight, from (a) to (h)', () => {
    const letters = scenarios.map(({ title }) => title.slice(0, 3))
    deepStrictEqual(letters, ['(a)', '(b)', '(c)', '(d)', '(e)', '(f)', '(g)', '(h)'])
  })

  it('leave three of each: orders, events, applied events and records', async () => {
    const { rows } = await sql`
      select (select count(*)::int from stage.orders) as orders,
        (select count(*)::int from stage.outbox) as outbox,
        (select count(*)::int from stage.sink) as sink,
        (select count(*)::int from stage.records) as records`.execute(database.watcher)
    deepStrictEqual(rows, [{ orders: 3, outbox: 3, sink: 3, records: 3 }])
  })
})
