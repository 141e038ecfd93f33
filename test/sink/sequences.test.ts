// Events that carry the business's own sequence are applied in the order of their aggregate.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'

import { sql } from 'kysely'
import { createSink, type GapPolicy, type SinkOptions } from 'oncely/sink'

import { testDatabase } from '../support/database.ts'
import { gate } from '../support/gate.ts'
import { untilWaiting } from '../support/waiting.ts'

interface ReceiverDatabase {
  states: { aggregate: string; event_id: string }
}

const database = testDatabase()
const connected = (name: string) =>
  database.connect<ReceiverDatabase>({ schema: null, application_name: name })
const db = connected('receiver')

function receiving<const Gaps extends GapPolicy = 'apply'>(
  options: Partial<SinkOptions<Gaps>> = {},
  on = db,
) {
  const sink = createSink(on, { consumer: 'c', ...options })
  return (
    id: string,
    sequence: number | bigint | string,
    aggregateId = 'a',
    pass: () => Promise<unknown> = () => Promise.resolve(),
  ) => {
    const event = { id, tenant: 't1', aggregateType: 'order', aggregateId, sequence }
    return sink.receive(event, async (tx) => {
      await tx.insertInto('states').values({ aggregate: aggregateId, event_id: id }).execute()
      await pass()
    })
  }
}

const applied = async (aggregate = 'a') => {
  const rows = await db
    .selectFrom('states')
    .select('event_id')
    .where('aggregate', '=', aggregate)
    .execute()
  return rows.map(({ event_id }) => event_id)
}
const next = { kind: 'applied', value: undefined, missing: 0 }

describe('a sink of events with a sequence', { timeout: 30_000 }, () => {
  before(() =>
    sql`create table public.states (position serial, aggregate text, event_id text)`.execute(
      database.watcher,
    ),
  )
  beforeEach(() =>
    sql`truncate public.states, idem.sink, idem.sink_sequences`.execute(database.watcher),
  )

  it('E18: applies the older one behind the newer one never, whatever text or number it is', async () => {
    const receive = receiving()
    deepStrictEqual(await receive('e9', '9'), next)
    deepStrictEqual(await receive('e10', 10n), next)
    deepStrictEqual(await receive('e8', 8), { kind: 'stale', last: '10' })
    deepStrictEqual(await receive('tie', 10), { kind: 'stale', last: '10' })
    deepStrictEqual(await receive('e8', 8), { kind: 'duplicate' })
    deepStrictEqual(await applied(), ['e9', 'e10'])
  })

  it('passes over a gap, and says how many are missing', async () => {
    const receive = receiving()
    await receive('e1', 1)
    deepStrictEqual(await receive('e5', 5), { ...next, missing: 3 })
    deepStrictEqual(await receive('e2', 2), { kind: 'stale', last: '5' })
    deepStrictEqual(await applied(), ['e1', 'e5'])
  })

  for (const gaps of ['wait', 'refuse'] as const) {
    it(`leaves an event behind a gap alone by '${gaps}', until the missing one has come`, async () => {
      const receive = receiving({ gaps })
      await receive('e1', 1)
      const gap = { kind: 'gap', policy: gaps, expected: '2' }
      deepStrictEqual([await receive('e3', 3), await receive('e3', 3)], [gap, gap])
      deepStrictEqual(await receive('e2', 2), next)
      deepStrictEqual(await receive('e3', 3), next)
      deepStrictEqual(await applied(), ['e1', 'e2', 'e3'])
    })
  }

  it('takes what comes first for the first one, unless it is said which that is', async () => {
    deepStrictEqual(await receiving()('any', 7), next)
    const receive = receiving({ consumer: 'd', gaps: 'wait', firstSequence: 1 })
    deepStrictEqual(await receive('e2', 2), { kind: 'gap', policy: 'wait', expected: '1' })
    deepStrictEqual(await receive('e0', 0), { kind: 'stale', last: '0' })
    deepStrictEqual([await receive('e1', 1), await receive('e2', 2)], [next, next])
  })

  it('counts consumers and aggregates by themselves', async () => {
    const [c, d] = [receiving(), receiving({ consumer: 'd' })]
    deepStrictEqual([await c('e2', 2), await d('e1', 1), await c('f1', 1, 'b')], [next, next, next])
  })

  it('E17: a function that fails leaves no trace of its event, nor of its sequence', async () => {
    const receive = receiving({ gaps: 'wait' })
    await receive('e1', 1)
    const own = new Error('own')
    await rejects(
      receive('e2', 2, 'a', () => Promise.reject(own)),
      own,
    )
    deepStrictEqual((await receive('e3', 3)).kind, 'gap')
    deepStrictEqual(await receive('e2', 2), next)
    deepStrictEqual(await applied(), ['e1', 'e2'])
  })

  for (const [name, first, second, expected] of [
    ['the next one waits for it, and comes behind it', 2, 3, next],
    ['an older one waits for it, and is stale', 3, 2, { kind: 'stale', last: '3' }],
    [
      'the first one of a new aggregate waits for it, and is stale',
      3,
      2,
      { kind: 'stale', last: '3' },
    ],
  ] as const) {
    it(`E18: while one is under way, ${name}`, async () => {
      const isNew = name.includes('new')
      if (!isNew) await receiving()('e1', 1)
      const stop = gate()
      const one = receiving()(`e${first}`, first, 'a', stop.pass)
      await stop.reached
      const other = receiving({}, connected('second'))(`e${second}`, second)
      await untilWaiting(database.watcher, 'second')
      stop.open()
      strictEqual((await one).kind, 'applied')
      deepStrictEqual(await other, expected)
    })
  }

  it('refuses a sequence that is none, before anything is written', async () => {
    const sink = createSink(db, { consumer: 'c' })
    const whole = { id: 'e', tenant: 't', aggregateType: 'o', aggregateId: '1' }
    const wrong = [
      ...[-1, 1.5, NaN, 2 ** 53, 2n ** 63n, '1.0', '-1', '', ' 1', '9223372036854775808', true, {}],
    ].map((sequence) => ({ ...whole, sequence }))
    const partial = [
      { id: 'e', sequence: 1 },
      { ...whole, tenant: '', sequence: 1 },
    ]
    for (const event of [...wrong, ...partial]) {
      await rejects(
        sink.receive(event as never, () => undefined),
        { code: 'invalid_event' },
      )
    }
    deepStrictEqual(await sink.receive({ ...whole, sequence: null }, () => undefined), next)
  })
})
