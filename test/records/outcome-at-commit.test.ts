import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'

import type { DB } from '../../codegen/db.ts'
import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { claimedRow, completedRow, outcome } from '../support/record-rows.ts'

type Tx = Transaction<DB>

const database = testDatabase()
const db = database.connect()

const claim = (tx: Tx, key: string) => tx.insertInto('records').values(claimedRow(key)).execute()
const update = (tx: Tx, key: string, to: object) =>
  tx.updateTable('records').set(to).where('key', '=', key).execute()
const unclaim = { state: 'claimed', response: null, completed_at: null }

async function stateOf(key: string): Promise<string | undefined> {
  const record = await db
    .selectFrom('records')
    .select('state')
    .where('key', '=', key)
    .executeTakeFirst()
  return record?.state
}

/** The statements succeed and the COMMIT behind them does not. */
async function refusesToCommit(key: string, statements: (tx: Tx) => Promise<unknown>) {
  const before = await stateOf(key)
  let done = false
  const failure = await failureOf(
    db.transaction().execute(async (tx) => {
      await statements(tx)
      done = true
    }),
  )
  strictEqual(done, true, String(failure))
  const { code, constraint, schema, table } = failure as Record<string, unknown>
  deepStrictEqual(
    { code, constraint, schema, table },
    { code: '23514', constraint: 'records_outcome_at_commit', schema: 'idem', table: 'records' },
  )
  strictEqual(await stateOf(key), before)
}

describe('the database refuses to commit a record without an outcome', () => {
  it('which was inserted', () => refusesToCommit('inserted', (tx) => claim(tx, 'inserted')))

  it('which was inserted by a statement on its own', async () => {
    const failure = await failureOf(
      db.insertInto('records').values(claimedRow('autocommit')).execute(),
    )
    strictEqual((failure as { constraint: string }).constraint, 'records_outcome_at_commit')
    strictEqual(await stateOf('autocommit'), undefined)
  })

  it('which had an outcome and is set back to claimed', async () => {
    await db.insertInto('records').values(completedRow('set back')).execute()
    await refusesToCommit('set back', (tx) => update(tx, 'set back', unclaim))
  })

  it('which was given an outcome and lost it again', () =>
    refusesToCommit('to and fro', async (tx) => {
      await claim(tx, 'to and fro')
      await update(tx, 'to and fro', outcome)
      await update(tx, 'to and fro', unclaim)
    }))

  it('whose outcome was undone by a savepoint', () =>
    refusesToCommit('undone', async (tx) => {
      await claim(tx, 'undone')
      await sql`savepoint mine`.execute(tx)
      await update(tx, 'undone', outcome)
      await sql`rollback to savepoint mine`.execute(tx)
    }))

  it('beside one that has its outcome', () =>
    refusesToCommit('half', async (tx) => {
      await claim(tx, 'half')
      await tx.insertInto('records').values(completedRow('other half')).execute()
    }))
})

describe('the database commits a record', () => {
  for (const state of ['completed', 'rejected']) {
    it(`that was claimed and then ${state}`, async () => {
      await db.transaction().execute(async (tx) => {
        await claim(tx, state)
        await update(tx, state, { ...outcome, state })
      })
      strictEqual(await stateOf(state), state)
    })
  }

  it('that was claimed and then deleted', async () => {
    await db.transaction().execute(async (tx) => {
      await claim(tx, 'deleted')
      await tx.deleteFrom('records').where('key', '=', 'deleted').execute()
    })
    strictEqual(await stateOf('deleted'), undefined)
  })

  it('whose claim was undone by a savepoint', async () => {
    await db.transaction().execute(async (tx) => {
      await sql`savepoint mine`.execute(tx)
      await claim(tx, 'never')
      await sql`rollback to savepoint mine`.execute(tx)
    })
    strictEqual(await stateOf('never'), undefined)
  })
})
