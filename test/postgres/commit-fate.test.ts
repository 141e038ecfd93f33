import { strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { type Kysely, sql } from 'kysely'

import type { DB } from '../../codegen/db.ts'
import {
  resolveCommit,
  type TransactionIdentity,
  transactionIdentity as names,
} from '../../src/postgres/commit-fate.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect()
const schema = 'idem'

const identityOn = async (tx: Kysely<DB>): Promise<TransactionIdentity> => {
  const { rows } = await sql<TransactionIdentity>`
    select ${names.xid} as xid, ${names.startedAt} as "startedAt"`.execute(tx)
  return rows[0] as TransactionIdentity
}

/** What is left of a transaction that is open while its end is looked for. */
async function lookingFor(of: (open: TransactionIdentity) => TransactionIdentity) {
  let looks = 0
  const open = db.transaction().execute(async (tx) => {
    const transaction = of(await identityOn(tx))
    const look = () => {
      looks += 1
      return Promise.resolve(undefined)
    }
    await resolveCommit(db, { transaction, schema, timeoutMs: 2_000, look })
    await sql`select 1`.execute(tx)
  })
  const failure = await open.then(
    () => undefined,
    () => 'ended',
  )
  return { failure, looked: looks > 0 }
}

describe('a transaction that is under way', () => {
  it('is ended when it has not ended by itself, and then looked for', async () => {
    const { failure, looked } = await lookingFor((open) => open)
    strictEqual(failure, 'ended')
    strictEqual(looked, true)
  })

  it('is not ended when only its id is the one that is looked for, and has gone', async () => {
    const { failure, looked } = await lookingFor(({ xid }) => ({ xid, startedAt: '1.5' }))
    strictEqual(failure, undefined)
    strictEqual(looked, true)
  })

  it('is neither ended nor taken for gone by a role that may not see who has its id', async () => {
    const role = sql.id(`oncely_stranger_${process.pid}`)
    await sql`create role ${role} nologin`.execute(database.watcher)
    try {
      const stranger = database.connect({ max: 1 })
      await sql`set role ${role}`.execute(stranger)
      const found = await db.transaction().execute(async (tx) => {
        const transaction = await identityOn(tx)
        const look = () => Promise.resolve('looked')
        const answer = await resolveCommit(stranger, {
          transaction,
          schema,
          timeoutMs: 2_000,
          look,
        })
        await sql`select 1`.execute(tx)
        return answer
      })
      strictEqual(found, undefined)
    } finally {
      await sql`drop role ${role}`.execute(database.watcher)
    }
  })
})

describe('a look-up that cannot succeed', () => {
  it('ends with its time, whatever fails, and leaves nothing behind', async () => {
    const nowhere = database.connect({ connectionString: 'postgres://nobody@127.0.0.1:1/none' })
    const transaction = { xid: '3', startedAt: '1' }
    const look = () => Promise.reject<string>(new Error('never to be seen'))
    for (const on of [nowhere, db]) {
      strictEqual(await resolveCommit(on, { transaction, schema, timeoutMs: 100, look }), undefined)
    }
  })

  it('does not keep a connection that comes too late', async () => {
    const single = database.connect({ max: 1 })
    const transaction = { xid: '3', startedAt: '1' }
    const look = () => Promise.resolve('found')
    const found = await single
      .connection()
      .execute(() => resolveCommit(single, { transaction, schema, timeoutMs: 100, look }))
    strictEqual(found, undefined)
    await sql`select 1`.execute(single)
  })
})
