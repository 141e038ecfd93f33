import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'
import { createIdempotency, fingerprint, type Idempotency } from 'oncely'
import { diagnose, grantStatements, migrationStatus } from 'oncely/migrations'
import { createSink } from 'oncely/sink'

import type { DB } from '../../codegen/db.ts'
import { oncely } from '../support/command.ts'
import { testDatabase } from '../support/database.ts'
import { claimedRow } from '../support/record-rows.ts'

const database = testDatabase()
const scope = { tenant: 't', actor: 'a', operation: 'o' }
const print = fingerprint(1, { version: 1 })
// Roles belong to the whole server, which other runs may use too.
const suffix = randomBytes(4).toString('hex')

/** A role that may connect and nothing else, and who works as it. */
function applicationRole(name: string): {
  readonly role: string
  readonly connect: () => Kysely<DB>
} {
  const role = `oncely_${name}_${suffix}`
  before(() => sql`create role ${sql.id(role)} login password 'secret'`.execute(database.watcher))
  after(async () => {
    await sql`drop owned by ${sql.id(role)}; drop role ${sql.id(role)}`.execute(database.watcher)
  })
  return { role, connect: () => database.connect({ connectionString: urlOf(role) }) }
}

function urlOf(role: string): string {
  return Object.assign(new URL(database.url), { username: role, password: 'secret' }).href
}

/** Executes a call, lets its replay window end, and sweeps. */
async function pastWindow(idempotency: Idempotency<DB>, key: string) {
  await idempotency.withIdempotency(scope, key, print, () => 1)
  const records = database.watcher.updateTable('records').set({ replay_until: new Date(0) })
  await records.where('key', '=', key).execute()
  return idempotency.sweep()
}

async function tombstonesAge(): Promise<void> {
  const records = database.watcher.updateTable('records').set({ expired_at: new Date(0) })
  await records.where('state', '=', 'expired').execute()
}

async function grant(statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database.watcher)
}

describe('a role that has the grants, and may change no table', () => {
  const { role, connect } = applicationRole('app')
  before(() => grant(grantStatements({ role })))

  it('does all that the library does', async () => {
    const db = connect()
    await rejects(sql`create table idem.theirs (id int)`.execute(db), { code: '42501' })
    const idempotency = createIdempotency(db)
    const call = (key: string, value: unknown, reject = false) =>
      idempotency.withIdempotency(scope, key, fingerprint(value, { version: 1 }), (_, context) => {
        context.emit({ type: 't', aggregateType: 'a', aggregateId: '1', payload: {} })
        return reject ? context.reject({ why: 1 }) : 1
      })
    const kinds = [
      await call('k', 1),
      await call('k', 1),
      await call('k', 2),
      await call('r', 1, true),
      await call('r', 1, true),
    ].map(({ kind }) => kind)
    strictEqual(await idempotency.expire(scope, 'k'), true)
    deepStrictEqual(
      [...kinds, (await call('k', 1)).kind],
      ['executed', 'replayed', 'conflict', 'rejected', 'rejected', 'expired'],
    )
    const sink = createSink(db, { consumer: role })
    strictEqual((await sink.receive({ id: 'e' }, () => 1)).kind, 'applied')
    strictEqual((await sink.receive({ id: 'e' }, () => 1)).kind, 'duplicate')
  })

  it('cannot commit a claim without an outcome, and needs no right on what refuses it', async () => {
    const db = connect()
    await rejects(db.selectFrom('uncommittable').selectAll().execute(), { code: '42501' })
    await rejects(db.insertInto('records').values(claimedRow('left')).execute(), {
      code: '23503',
      constraint: 'records_outcome_at_commit',
    })
  })

  it('is well by the doctor, who finds the rights of a sweeper missing', async () => {
    const db = connect()
    const orders = [...(await diagnose(db)).findings]
    deepStrictEqual(
      [...new Set(orders.map((finding) => finding.sql))],
      [`grant select, insert, update on "idem"."orders" to "${role}";`],
    )
    await grant(grantStatements({ role, withOrders: true }))
    deepStrictEqual((await diagnose(db)).findings, [])
    strictEqual((await migrationStatus(db)).length, 4)
    const { findings } = await diagnose(db, { sweeper: true })
    deepStrictEqual(findings.map(({ code, problem }) => [code, problem]).toSorted(), [
      ['grant_missing', `${role} may not delete quota_uses`],
      ['grant_missing', `${role} may not delete records`],
      ['grant_missing', `${role} may not delete sink`],
      ['grant_missing', `${role} may not update sink`],
    ])
    await rejects(db.deleteFrom('records').execute(), { code: '42501' })
  })

  it('sweeps, which is an update, and may not purge', async () => {
    const idempotency = createIdempotency(connect(), { tombstoneWindowMs: 1 })
    const cleared = await pastWindow(idempotency, 'app')
    deepStrictEqual(cleared, { cleared: 1 })
    await rejects(idempotency.purge(), { code: 'access_denied', message: /oncely migrate grants/ })
  })
})

describe('a role that also sweeps', () => {
  const { role, connect } = applicationRole('sweeper')
  before(() => grant(grantStatements({ role, sweeper: true, withOrders: true })))

  it('may delete records, and is well by the doctor', async () => {
    const db = connect()
    await db.deleteFrom('records').execute()
    deepStrictEqual((await diagnose(db, { sweeper: true })).findings, [])
  })

  it('purges a sink', async () => {
    const sink = createSink(connect(), { consumer: 'c', retentionMs: 1 })
    await sink.receive({ id: 'e' }, () => undefined)
    await sql`update idem.sink set applied_at = now() - interval '1 hour'`.execute(database.watcher)
    deepStrictEqual(await sink.purge(), { purged: 1 })
  })

  it('sweeps and purges, also as the command', async () => {
    const idempotency = createIdempotency(connect(), { tombstoneWindowMs: 1 })
    deepStrictEqual(await pastWindow(idempotency, 'one'), { cleared: 1 })
    await tombstonesAge()
    deepStrictEqual(await idempotency.purge(), { purged: 1 })
    deepStrictEqual(await pastWindow(idempotency, 'two'), { cleared: 1 })
    await tombstonesAge()
    deepStrictEqual(
      oncely(['sweep', '--once', '--tombstone-window-ms', '1', '--url', urlOf(role)]),
      { status: 0, stdout: 'total: cleared 0, purged 1\n', stderr: '' },
    )
  })
})

describe('a role that lacks a right', () => {
  const { role, connect } = applicationRole('poor')

  it('is told by every call what it lacks, and by the doctor how to mend it', async () => {
    const db = connect()
    const idempotency = createIdempotency(db)
    const denied = { code: 'access_denied', message: /oncely migrate grants/ }
    await rejects(
      idempotency.withIdempotency(scope, 'k', print, () => 1),
      denied,
    )
    await rejects(idempotency.expire(scope, 'k'), denied)
    await rejects(
      createSink(db, { consumer: 'c' }).receive({ id: 'e' }, () => 1),
      denied,
    )
    await rejects(migrationStatus(db), denied)

    const { findings } = await diagnose(db)
    deepStrictEqual(findings[0], {
      code: 'grant_missing',
      problem: `${role} may not use the schema 'idem'`,
      mend: 'grant it, as somebody who may',
      sql: `grant usage on schema "idem" to "${role}";`,
    })
    await grant([...new Set(findings.map((finding) => String(finding.sql)))])
    deepStrictEqual((await diagnose(db)).findings, [])
    strictEqual((await idempotency.withIdempotency(scope, 'poor', print, () => 1)).kind, 'executed')
  })

  it('is told which one, when it is one that is missing', async () => {
    const db = connect()
    await sql`revoke update on idem.records from ${sql.id(role)}`.execute(database.watcher)
    const { findings } = await diagnose(db)
    deepStrictEqual(
      findings.map(({ problem }) => problem),
      [`${role} may not update records`],
    )
    await sql`revoke select on idem.oncely_migrations from ${sql.id(role)}`.execute(
      database.watcher,
    )
    strictEqual((await diagnose(db)).findings.length, 2)
  })
})
