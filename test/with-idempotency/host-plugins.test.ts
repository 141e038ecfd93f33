import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { CamelCasePlugin, type KyselyPlugin, ParseJSONResultsPlugin, sql } from 'kysely'
import { createIdempotency, fingerprint } from 'oncely'

import { testDatabase } from '../support/database.ts'

/** As a host with CamelCasePlugin names them, and as all others do. */
interface HostDatabase {
  lineItems: { orderKey: string; itemMeta: string }
  line_items: { order_key: string; item_meta: string }
}

const database = testDatabase()
const one = fingerprint({ n: 1 }, { version: 1 })
const other = fingerprint({ n: 2 }, { version: 1 })
const meta = { user_id: 1, first_name: { last_name: 'x' } }

/** What a plugin would rename, parse or drop if it got hold of it. */
const value = {
  user_id: 1,
  userId: 2,
  rows: [{ created_at: '2026-01-01', __typename: 'x' }],
  array: '[0]',
  object: '{"a":1}',
  quoted: '"text"',
  ['__proto__']: { polluted: true },
}

interface Case {
  readonly plugins: KyselyPlugin[]
  /** Whether `tx` is to be used in camel case. */
  readonly camel: boolean
  /** A row of the host's, with a text that is JSON, as its plugins make it. */
  readonly row: unknown
}

const cases: Record<string, Case> = {
  'D13: CamelCasePlugin': {
    plugins: [new CamelCasePlugin()],
    camel: true,
    row: { orderKey: '[1]', itemMeta: { userId: 1, firstName: { lastName: 'x' } } },
  },
  'D13: CamelCasePlugin, maintainNestedObjectKeys': {
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    camel: true,
    row: { orderKey: '[1]', itemMeta: meta },
  },
  'D14: ParseJSONResultsPlugin': {
    plugins: [new ParseJSONResultsPlugin()],
    camel: false,
    row: { order_key: [1], item_meta: meta },
  },
  'D13, D14: both': {
    plugins: [new ParseJSONResultsPlugin(), new CamelCasePlugin()],
    camel: true,
    row: { orderKey: [1], itemMeta: { userId: 1, firstName: { lastName: 'x' } } },
  },
}

for (const [name, { plugins, camel, row }] of Object.entries(cases)) {
  describe(`${name}: the host`, () => {
    const db = database.connect<HostDatabase>({ schema: null, plugins })
    const idempotency = createIdempotency(db)
    // Looks like JSON as well.
    const scope = { tenant: `{"of":"${name}"}`, actor: '"u_1"', operation: 'line_items' }

    it('has its plugins in the transaction, and nowhere in what we store', async () => {
      await sql`drop table if exists line_items`.execute(db)
      await sql`create table line_items (order_key text, item_meta jsonb)`.execute(db)
      const call = () =>
        idempotency.withIdempotency(scope, '[1]', one, async (tx, context) => {
          const itemMeta = JSON.stringify(meta)
          const rows = camel
            ? tx.insertInto('lineItems').values({ orderKey: context.key, itemMeta }).returningAll()
            : tx
                .insertInto('line_items')
                .values({ order_key: context.key, item_meta: itemMeta })
                .returningAll()
          deepStrictEqual(await rows.execute(), [row])
          deepStrictEqual([context.key, context.scope], ['[1]', scope])
          context.resource({ type: 'line_item', id: '{"a_b":1}' })
          context.emit({
            type: 'line_item.added',
            aggregateType: 'line_item',
            aggregateId: '[2]',
            payload: value,
          })
          return value
        })
      const first = await call()
      deepStrictEqual(first, { ok: true, kind: 'executed', value })
      deepStrictEqual(await call(), { ...first, kind: 'replayed' })
      deepStrictEqual(
        (await idempotency.withIdempotency(scope, '[1]', other, () => 1)).kind,
        'conflict',
      )

      const { records, outbox } = await stored(scope.tenant)
      deepStrictEqual(records.response?.toString(), JSON.stringify(value))
      deepStrictEqual(outbox.payload, JSON.stringify(value))
      deepStrictEqual([outbox.aggregateid, outbox.type], ['[2]', 'line_item.added'])
    })

    it('is told of refusals and tombstones, with what they carry', async () => {
      const refuse = () =>
        idempotency.withIdempotency(scope, '{"k":2}', one, (_, context) => context.reject(value))
      for (const replayed of [false, true]) {
        deepStrictEqual(await refuse(), { ok: false, kind: 'rejected', refusal: value, replayed })
      }
      strictEqual(await idempotency.expire(scope, '[1]'), true)
      deepStrictEqual(await idempotency.withIdempotency(scope, '[1]', one, () => 1), {
        ok: false,
        kind: 'expired',
        resource: { type: 'line_item', id: '{"a_b":1}' },
      })
    })
  })
}

async function stored(tenant: string) {
  const records = await database.watcher
    .selectFrom('records')
    .select('response')
    .where('tenant', '=', tenant)
    .executeTakeFirstOrThrow()
  const outbox = await database.watcher
    .selectFrom('outbox')
    .select(['type', 'aggregateid', sql<string>`payload::text`.as('payload')])
    .where('tenant', '=', tenant)
    .executeTakeFirstOrThrow()
  return { records, outbox }
}
