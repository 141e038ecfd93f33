// The table of promises in the README: each of its cells is tried.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { type ConnectOptions, testDatabase } from '../support/database.ts'
import { type HostName, hostNames, hosts } from '../support/hosts.ts'
import { idleProcess } from '../support/idle-process.ts'
import { type NotesDatabase, notesHost, one, scope, writeNote } from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

const connect = (name: HostName, options: ConnectOptions = {}) =>
  host.connect({ connectionString: proxy.url(), max: 1, manners: hosts[name], ...options })

let keys = 0
const call = (db: Kysely<NotesDatabase>, then: () => unknown = () => undefined) =>
  createIdempotency(db, { resolveTimeoutMs: 1_000 }).withIdempotency(
    scope,
    `k${(keys += 1)}`,
    one,
    async (tx, context) => {
      await writeNote(tx, context)
      await then()
      return 'note'
    },
  )

/** Whether a connection comes to be another behind what happens to it. */
async function isReplaced(db: Kysely<NotesDatabase>, by: () => Promise<unknown>) {
  const pid = sql<{ pid: number }>`select pg_backend_pid() as pid`
  const before = (await pid.execute(db)).rows[0]?.pid
  await by()
  return (await pid.execute(db)).rows[0]?.pid !== before
}

const refusal = { severity: 'ERROR', code: '57014', closes: false } as const

type Check = (name: HostName, t: TestContext) => Promise<boolean>

const promises: Record<string, Check> = {
  async 'a lost COMMIT is looked up, and the key takes effect once'(name) {
    proxy.meddle('lost behind')
    const result = await call(connect(name))
    return result.kind === 'executed' && result.recovered === true
  },

  async 'a COMMIT that is never answered keeps no call for ever'(name) {
    proxy.meddle('stalled behind')
    const result = await call(connect(name, { max: 2 }))
    proxy.cut()
    return result.kind === 'executed'
  },

  async 'it keeps no connection of the pool either, which may be the only one'(name) {
    proxy.meddle('stalled behind')
    const result = await call(connect(name))
    proxy.cut()
    return result.kind === 'executed'
  },

  async 'a connection whose ROLLBACK failed is not used again'(name) {
    const db = connect(name)
    return isReplaced(db, () => {
      proxy.meddle(refusal, 'rollback')
      return failureOf(call(db, () => Promise.reject(new Error('own'))))
    })
  },

  async 'a connection whose BEGIN failed or timed out is not used again'(name) {
    const db = connect(name)
    const replaced = await isReplaced(db, () => {
      proxy.meddle(refusal, 'start transaction')
      return failureOf(call(db))
    })
    // The plain host has a transaction left open there, which this test does not want to leave.
    if (!replaced) proxy.cut()
    return replaced
  },

  async 'a call throws its first error, whatever becomes of the rollback'(name) {
    const own = new Error('own')
    const failing = call(connect(name), () => {
      proxy.cut()
      throw own
    })
    return (await failureOf(failing)) === own
  },

  async 'so does your own `db.transaction()`, also when COMMIT fails'(name) {
    proxy.meddle({ severity: 'FATAL', code: '57P01', closes: true })
    const transaction = connect(name)
      .transaction()
      .execute((tx) => sql`select 1`.execute(tx))
    return ((await failureOf(transaction)) as { code?: string }).code === '57P01'
  },

  async 'an error by which PostgreSQL refuses COMMIT needs no look-up, whatever its SQLSTATE'(
    name,
  ) {
    const asked: string[] = []
    const log = (event: { query: { sql: string } }) => {
      if (/pg_xact_status/.test(event.query.sql)) asked.push(event.query.sql)
    }
    await sql`
      create or replace function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = '22012'; end $$;
      drop table if exists refusals;
      create table refusals (n int);
      create constraint trigger refuse after insert on refusals
        deferrable initially deferred for each row execute function refuse()`.execute(
      host.connect({ max: 1 }),
    )
    const failing = createIdempotency(connect(name, { log: log as never })).withIdempotency(
      scope,
      `refused ${name}`,
      one,
      (tx) => sql`insert into refusals values (1)`.execute(tx).then(() => 1),
    )
    strictEqual(((await failureOf(failing)) as { code?: string }).code, '22012')
    return asked.length === 0
  },

  async 'a connection lost while no statement runs on it does not end the process'(name, t) {
    const lives: boolean[] = []
    for (const how of ['held', 'idle'] as const) {
      const { child, exit, says } = await idleProcess(t, database, name, how)
      const lived = await Promise.race([
        says().then((line) => line === 'heard'),
        exit.then(() => false),
      ])
      if (lived) child.stdin.write('go on\n')
      const [code] = await exit
      strictEqual(code === 0, lived)
      lives.push(lived)
    }
    strictEqual(lives[0], lives[1])
    return lives[0] === true
  },
}

/** Promise → what its cells say, in the order of the hosts. */
function tableInReadme(): Map<string, readonly string[]> {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, ...rows] = /\n\| promise .*((?:\n\|.*)+)/.exec(readme)?.[1]?.trim().split('\n') ?? []
  return new Map(
    rows.map((row) => {
      const [promise = '', ...cells] = row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return [promise, cells]
    }),
  )
}

const table = tableInReadme()

it('the README has a row for each promise that is tried', () => {
  deepStrictEqual([...table.keys()], Object.keys(promises))
})

for (const [promise, check] of Object.entries(promises)) {
  describe(promise, () => {
    for (const [at, name] of hostNames.entries()) {
      it(`${name}: ${String(table.get(promise)?.[at])}`, async (t) => {
        strictEqual((await check(name, t)) ? 'yes' : 'no', table.get(promise)?.[at])
      })
    }
  })
}
