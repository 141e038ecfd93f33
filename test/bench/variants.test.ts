// What oncely is compared with does what it does, or a ratio of the two would say nothing.
import { deepStrictEqual } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { sql } from 'kysely'

import { createBusinessTables, type Tables } from '../../bench/business.ts'
import { conflicting, loadedIntent, newIntent } from '../../bench/intent.ts'
import { copyRecords, createKeyTables } from '../../bench/key-tables.ts'
import { loadRecords } from '../../bench/load.ts'
import { type Host, openHost } from '../../bench/variants/hosts.ts'
import { testDatabase } from '../support/database.ts'

const LIVE = { prefix: 'live', count: 3 } as const
const PAST = { prefix: 'past', count: 3 } as const

const database = testDatabase()
const db = database.connect<Tables>({ schema: null })
const names = [
  'oncely',
  'oncely, readFirst',
  'oncely, share lock',
  'by hand',
  'naive',
  'naive, lean table',
  'three commits',
  'three commits, lean table',
]

describe('the variants of the benchmark', () => {
  let host: Host

  before(async () => {
    await createBusinessTables(db)
    await createKeyTables(db)
    for (const loaded of [LIVE, PAST]) await loadRecords(db, loaded)
    await copyRecords(db)
    host = openHost(database.url, 2)
  })
  after(() => host.close())

  for (const name of names) {
    it(`${name}: each outcome is what it is with the others`, async () => {
      const variant = host.variants[name]
      const first = newIntent()
      const intents = [first, first, conflicting(first), loadedIntent(LIVE), loadedIntent(PAST)]
      const ends: (string | undefined)[] = []
      for (const intent of intents) ends.push(await variant?.(intent))
      deepStrictEqual(ends, ['executed', 'replayed', 'conflict', 'replayed', 'expired'])
    })
  }

  it('keep their keys in a table with the columns, checks and indexes of the records', async () => {
    const { rows } = await sql<Record<'records' | 'keys', string[]>>`
      select ${described('idem.records')} as records, ${described('bench_keys')} as keys`.execute(
      db,
    )
    deepStrictEqual(rows[0]?.keys, rows[0]?.records)
  })
})

/** Column types with their rules, checks, and what is indexed where. */
function described(table: string) {
  return sql`(
    select array_agg(line order by line) from (
      select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid)) as line
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = ${table}::regclass and attnum > 0
      union all
      select pg_get_constraintdef(oid) from pg_constraint
      where conrelid = ${table}::regclass and contype in ('c', 'p')
      union all
      select regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', '') from pg_index
      where indrelid = ${table}::regclass
      union all
      select unnest(reloptions) from pg_class where oid = ${table}::regclass
    ) of (line))`
}
