import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { diagnose, migrateToLatest } from 'oncely/migrations'

import { dumpSchema } from '../../codegen/dump-schema.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()

async function migrated(schema: string): Promise<Kysely<unknown>> {
  const connectionString = await emptyDatabase(database)
  const db = database.connect<unknown>({ schema: null, connectionString, max: 1 })
  await migrateToLatest(db, { schema, withOrders: true })
  return db
}

/** Somebody's hand, `$` being the schema; what it is told as. */
const cases: readonly [what: string, hand: string, problem: RegExp][] = [
  [
    'a dropped index',
    'drop index $.records_replay_until_idx',
    /index records_replay_until_idx of records is missing/,
  ],
  [
    'an index on something else',
    'drop index $.outbox_pending_idx; create index outbox_pending_idx on $.outbox (id)',
    /index outbox_pending_idx of outbox is "CREATE INDEX/,
  ],
  [
    'a unique index of their own',
    'create unique index theirs on $.records (key)',
    /index theirs of records is not of oncely/,
  ],
  [
    'a column of another type',
    'alter table $.records alter response_status type integer',
    /response_status of records is "integer" and should be "smallint"/,
  ],
  [
    'a column that may be null',
    'alter table $.outbox alter payload drop not null',
    /payload of outbox is "json" and should be "json not null"/,
  ],
  [
    'a default that is gone',
    'alter table $.records alter created_at drop default',
    /created_at of records/,
  ],
  [
    'an identity that is gone',
    'alter table $.outbox alter position drop identity',
    /position of outbox/,
  ],
  [
    'a collation of the database',
    'alter table $.sink alter consumer type text collate "default"',
    /consumer of sink is "text not null" and should be "text collate "C" not null"/,
  ],
  [
    'a dropped column',
    'alter table $.outbox drop column last_error',
    /column last_error of outbox is missing/,
  ],
  [
    'a column that must be given',
    'alter table $.records add theirs text not null',
    /theirs of records is not of oncely/,
  ],
  [
    'a dropped primary key',
    'alter table $.records drop constraint records_pkey',
    /constraint records_pkey of records is missing/,
  ],
  [
    'a check that lets more through',
    "alter table $.orders drop constraint orders_status_check; alter table $.orders add constraint orders_status_check check (status <> '')",
    /constraint orders_status_check of orders is/,
  ],
  [
    'a check of their own',
    'alter table $.records add constraint theirs check (false)',
    /constraint theirs of records is not of oncely/,
  ],
  [
    'a dropped trigger',
    'drop trigger records_outcome_at_commit on $.records',
    /trigger records_outcome_at_commit of records is missing/,
  ],
  [
    'a disabled trigger',
    'alter table $.records disable trigger records_outcome_at_commit',
    /trigger records_outcome_at_commit of records is .*disabled/,
  ],
  [
    'a guard that does nothing',
    "create or replace function $.records_refuse_unfinished() returns trigger language plpgsql as 'begin return null; end'",
    /function records_refuse_unfinished is/,
  ],
  [
    'a table that a crash empties',
    'alter table $.sink set unlogged',
    /table sink is "unlogged table" and should be "table"/,
  ],
  [
    'rows that are hidden',
    'alter table $.records enable row level security',
    /table records is "table with row level security"/,
  ],
  ['a dropped table', 'drop table $.records', /table records is missing, and all of its rows/],
]

describe('doctor on a schema that somebody changed', () => {
  for (const schema of ['idem', 'My "Idem"']) {
    const name = `"${schema.replaceAll('"', '""')}"`
    for (const [what, hand, problem] of cases) {
      it(`finds ${what} in ${schema}, and its mend mends it`, async () => {
        const db = await migrated(schema)
        const dump = await dumpSchema(db, schema)
        const look = async () => (await diagnose(db, { schema })).findings
        await sql.raw(hand.replaceAll('$', name)).execute(db)
        const findings = await look()
        match(findings.map((finding) => finding.problem).join('\n'), problem)
        deepStrictEqual([...new Set(findings.map(({ code }) => code))], ['schema_drift'])
        for (const { mend } of findings) {
          await sql.raw(mend).execute(db)
          await sql`reset search_path`.execute(db)
        }
        deepStrictEqual(await look(), [])
        if (!what.includes('column')) strictEqual(await dumpSchema(db, schema), dump)
      })
    }
  }

  it('lets a host have its own index and an optional column', async () => {
    const db = await migrated('idem')
    await sql`create index theirs on idem.records (tenant); alter table idem.records add note text; alter table idem.records add n int not null default 0`.execute(
      db,
    )
    deepStrictEqual((await diagnose(db)).findings, [])
  })
})
