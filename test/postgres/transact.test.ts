import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'

import { GuardedExecutor } from '../../src/postgres/guarded-executor.ts'
import { transact, transactRepeatable } from '../../src/postgres/transact.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const db = database.connect({ max: 1 })

describe('a unit of work', () => {
  for (const run of [transact, transactRepeatable]) {
    it(`C5: ${run.name}: has failed when COMMIT was answered by ROLLBACK`, async () => {
      const swallowing = run(db, 'idem', async (trx) => {
        await sql`select 1 / 0`.execute(trx).catch(() => undefined)
        return { end: 'commit', outcome: 'done' }
      })
      await rejects(swallowing, { code: 'transaction_aborted' })
      const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db)
      deepStrictEqual(rows, [{ one: 1 }])
    })
  }

  it('may end by a rollback without failing', async () => {
    const fate = await transact(db, 'idem', () =>
      Promise.resolve({ end: 'rollback', outcome: 'seen' }),
    )
    deepStrictEqual(fate, { known: true, outcome: 'seen' })
  })
})

describe('the guarded executor', () => {
  it("passes on every member of Kysely's", () => {
    const members = (of: object): string[] =>
      of === Object.prototype
        ? []
        : [...Object.getOwnPropertyNames(of), ...members(Object.getPrototypeOf(of) as object)]
    const ours = new Set(members(GuardedExecutor.prototype))
    const missing = members(Object.getPrototypeOf(db.getExecutor()) as object).filter(
      (name) => !ours.has(name),
    )
    deepStrictEqual(missing, [])
    strictEqual(ours.has('executeQuery'), true)
  })
})
