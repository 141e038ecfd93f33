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
const unclaim = { state: 'claimed', claimed: true, response: null, completed_at: null }

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
  isRefusal(failure)
  strictEqual(await stateOf(key), before)
}

/** The statement behind a claim does not succeed. */
async function refusesBefore(key: string, statement: (tx: Tx) => Promise<unknown>) {
  let claimed = false
  const failure = await failureOf(
    db.transaction().execute(async (tx) => {
      await claim(tx, key)
      claimed = true
      await statement(tx)
    }),
  )
  strictEqual(claimed, true, String(failure))
  isRefusal(failure)
  strictEqual(await stateOf(key), undefined)
}

function isRefusal(failure: unknown): void {
  const { code, constraint, schema, table } = failure as Record<string, unknown>
  deepStrictEqual(
    { code, constraint, schema, table },
    { code: '23503', constraint: 'records_outcome_at_commit', schema: 'idem', table: 'records' },
  )
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

  it('which was written again, also behind a savepoint', () =>
    refusesToCommit('again', async (tx) => {
      await claim(tx, 'again')
      await update(tx, 'again', { resource_type: 'note', resource_id: '1' })
      await sql`savepoint mine`.execute(tx)
      await update(tx, 'again', { resource_type: null, resource_id: null })
    }))

  it('which had an outcome, is set back to claimed and written again', async () => {
    await db.insertInto('records').values(completedRow('set back again')).execute()
    await refusesToCommit('set back again', async (tx) => {
      await update(tx, 'set back again', unclaim)
      await update(tx, 'set back again', { resource_type: 'note', resource_id: '1' })
    })
  })

  it('whose constraints are checked before COMMIT, and from then on at once', async () => {
    const constraints = [sql`all`, sql`idem.records_outcome_at_commit`]
    for (const constraint of constraints) {
      const immediate = sql`set constraints ${constraint} immediate`
      await refusesBefore('early', (tx) => immediate.execute(tx))
      const failure = await failureOf(
        db.transaction().execute(async (tx) => {
          await immediate.execute(tx)
          await claim(tx, 'at once')
        }),
      )
      isRefusal(failure)
    }
    strictEqual(await stateOf('at once'), undefined)
  })

  it('beside one that has its outcome', () =>
    refusesToCommit('half', async (tx) => {
      await claim(tx, 'half')
      await tx.insertInto('records').values(completedRow('other half')).execute()
    }))
})

describe('the database has nothing that a record without an outcome could refer to', () => {
  for (const claimed of [true, false]) {
    it(`nor takes it: ${String(claimed)}`, async () => {
      const failure = await failureOf(db.insertInto('uncommittable').values({ claimed }).execute())
      const { code, constraint } = failure as Record<string, unknown>
      deepStrictEqual([code, constraint], ['23514', 'uncommittable_check'])
    })
  }
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
