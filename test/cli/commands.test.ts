import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { migrateToLatest } from 'oncely/migrations'

import { type Ended, oncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'

const database = testDatabase()

/** A migrated database of one's own, and the command on it. */
async function migrated() {
  const url = await emptyDatabase(database)
  const db = database.connect<unknown>({ schema: null, connectionString: url })
  await migrateToLatest(db)
  return { db, run: (...args: string[]) => oncely([...args, '--url', url]) }
}

const said = (stdout: string, status = 0): Ended => ({ status, stdout, stderr: '' })

describe('oncely migrate status', () => {
  it('lists what is applied, with the time, and what is not', async () => {
    const { run } = await migrated()
    const { status, stdout, stderr } = run('migrate', 'status')
    deepStrictEqual([status, stderr], [0, ''])
    match(
      stdout,
      /^applied {3}0001-records {2}\d{4}-\d\d-\d\dT[\d:.]+Z\n.*\n.*\noptional {2}0004-orders {2}--with-orders\n$/,
    )
    run('migrate', 'down', '--yes')
    match(run('migrate', 'status').stdout, /\npending {3}0003-sink\n/)
  })
})

describe('oncely migrate down', () => {
  it('refuses without --yes and says what data goes', async () => {
    const { db, run } = await migrated()
    await sql`insert into idem.sink (consumer, event_id) values ('c', '1')`.execute(db)
    deepStrictEqual(run('migrate', 'down'), {
      status: 1,
      stdout: '',
      stderr:
        'oncely: this drops sink (1 row), sink_sequences (0 rows) for good; with --yes it is done\n',
    })
    match(run('migrate', 'down', '--all').stderr, /sink.*outbox.*records/)
    strictEqual(run('doctor').status, 0)
  })

  it('undoes the last migration by --yes, and all of them by --all', async () => {
    const { run } = await migrated()
    deepStrictEqual(run('migrate', 'down', '--yes'), said('undone 0003-sink\n'))
    deepStrictEqual(
      run('migrate', 'down', '--yes', '--all'),
      said('undone 0002-outbox\nundone 0001-records\n'),
    )
    deepStrictEqual(run('migrate', 'down', '--yes'), said("nothing to undo in 'idem'\n"))
    deepStrictEqual(run('migrate', 'down'), said("nothing to undo in 'idem'\n"))
  })
})

describe('--dry-run', () => {
  it('prints the SQL, up and down, and runs nothing', async () => {
    const url = await emptyDatabase(database)
    const run = (...args: string[]) => oncely([...args, '--dry-run', '--url', url])
    const up = run('migrate', '--with-orders')
    deepStrictEqual([up.status, up.stderr], [0, ''])
    match(
      up.stdout,
      /^-- for psql[^]+begin;[^]+create schema "idem";[^]+create table "idem"."orders"[^]+commit;\n$/,
    )
    match(oncely(['migrate', 'status', '--url', url]).stdout, /^pending/)
    strictEqual(oncely(['migrate', '--url', url]).status, 0)
    deepStrictEqual(run('migrate'), said("-- nothing to do: 'idem' is up to date\n"))
    match(run('migrate', 'down', '--all').stdout, /drop table "idem"."records";/)
    strictEqual(oncely(['doctor', '--url', url]).status, 0)
  })
})

describe('oncely migrate grants', () => {
  it('prints the statements and needs no database', () => {
    deepStrictEqual(
      oncely(['migrate', 'grants', '--role', 'my "app"']),
      said(`grant usage on schema "idem" to "my ""app""";
grant select, insert, update on "idem"."records" to "my ""app""";
grant select, insert, update on "idem"."quota_uses" to "my ""app""";
grant insert on "idem"."outbox" to "my ""app""";
grant select, insert on "idem"."sink" to "my ""app""";
grant select, insert, update on "idem"."sink_sequences" to "my ""app""";
grant select on "idem"."oncely_migrations" to "my ""app""";
`),
    )
    const more = ['--sweeper', '--with-orders', '--schema', 'Other']
    const { stdout } = oncely(['migrate', 'grants', '--role', 'app', ...more])
    match(stdout, /select, insert, update, delete on "Other"."records"[^]+on "Other"."orders"/)
  })

  it('wants to know for whom', () => {
    for (const role of [[], ['--role', ''], ['--role', 'x'.repeat(64)]]) {
      const { status, stderr } = oncely(['migrate', 'grants', ...role])
      strictEqual(status, 2)
      match(stderr, /^oncely: [^\n]*role[^\n]*\n$/)
    }
  })
})

describe('oncely doctor', () => {
  it('is clean on a migrated database', async () => {
    const { run } = await migrated()
    const { status, stdout, stderr } = run('doctor')
    deepStrictEqual([status, stderr], [0, ''])
    match(stdout, /^note: PostgreSQL [^]+\nall is well in 'idem'\n$/)
  })

  it('exits with 1 and a mend for each problem', async () => {
    const { db, run } = await migrated()
    await sql`drop index idem.outbox_pending_idx`.execute(db)
    const { status, stdout } = run('doctor', '--lock-timeout-ms', '500')
    strictEqual(status, 1)
    match(
      stdout,
      /problem: the index outbox_pending_idx of outbox is missing\n {3}mend: make it anew\n {4}sql: begin; .*CREATE INDEX.*;\nproblems: 1\n$/,
    )
    strictEqual(run('doctor', '--lock-timeout-ms', 'x').status, 2)
  })
})
