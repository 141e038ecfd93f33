import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { createIdempotency, type OutcomeReport } from 'oncely'

import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { nothing, notesHost, one, scope, writeNote, written } from '../support/notes-host.ts'

const database = testDatabase()
const host = notesHost(database)

/** Fails in the way given on its first runs. */
const passing: readonly [what: string, statement: string][] = [
  ['a serialisation failure', "do $$ begin raise exception 'x' using errcode = '40001'; end $$"],
  ['a deadlock', "do $$ begin raise exception 'x' using errcode = '40P01'; end $$"],
  ['a connection lost before COMMIT was sent', 'select pg_terminate_backend(pg_backend_pid())'],
]
const lasting: readonly [what: string, statement: string][] = [
  ['a violated constraint', "do $$ begin raise exception 'x' using errcode = '23505'; end $$"],
  ['a time-out', "do $$ begin raise exception 'x' using errcode = '57014'; end $$"],
]

describe('retry', () => {
  for (const [what, statement] of passing) {
    it(`runs the whole call again after ${what}, and reports how often`, async () => {
      const reports: OutcomeReport[] = []
      const onOutcome = (report: OutcomeReport) => reports.push(report)
      const idempotency = createIdempotency(host.connect(), { retry: { attempts: 3 }, onOutcome })
      const key = `again ${what}`
      let runs = 0
      const result = await idempotency.withIdempotency(scope, key, one, async (tx, context) => {
        runs += 1
        await writeNote(tx, context)
        if (runs < 3) await sql.raw(statement).execute(tx)
        return runs
      })
      deepStrictEqual(result, { ok: true, kind: 'executed', value: 3 })
      deepStrictEqual(await host.left(key), written)
      deepStrictEqual(
        reports.map(({ kind, attempts }) => [kind, attempts]),
        [['executed', 3]],
      )
    })

    it(`A33: runs nothing again after ${what} unless asked, and throws when it was too often`, async () => {
      for (const attempts of [1, 2]) {
        let runs = 0
        const options = attempts === 1 ? {} : { retry: { attempts } }
        const idempotency = createIdempotency(host.connect(), options)
        const call = idempotency.withIdempotency(scope, `never ${what}`, one, async (tx) => {
          runs += 1
          await sql.raw(statement).execute(tx)
        })
        await rejects(call)
        strictEqual(runs, attempts)
        deepStrictEqual(await host.left(`never ${what}`), nothing)
      }
    })
  }

  for (const [what, statement] of lasting) {
    it(`runs nothing again after ${what}`, async () => {
      let runs = 0
      const idempotency = createIdempotency(host.connect(), { retry: { attempts: 3 } })
      const call = idempotency.withIdempotency(scope, what, one, async (tx) => {
        runs += 1
        await sql.raw(statement).execute(tx)
      })
      await rejects(call)
      strictEqual(runs, 1)
    })
  }

  it('runs again behind a lost connection with oncelyDialect, and only in the run that lost it', async () => {
    const declined = new Error('declined')
    const idempotency = createIdempotency(host.connect({ manners: hosts.oncelyDialect }), {
      retry: { attempts: 3 },
    })
    let runs = 0
    let cut = true
    const call = (key: string) =>
      idempotency.withIdempotency(scope, key, one, async (tx) => {
        runs += 1
        if (cut)
          await sql`select pg_terminate_backend(pg_backend_pid())`
            .execute(tx)
            .catch(() => undefined)
        cut = false
        if (key === 'declined' || runs === 1) throw declined
        return runs
      })
    deepStrictEqual(await call('lost'), { ok: true, kind: 'executed', value: 2 })
    runs = 0
    await rejects(call('declined'), declined)
    strictEqual(runs, 1)
  })

  it("runs nothing again after the function's own error", async () => {
    const boom = new Error('boom')
    const idempotency = createIdempotency(host.connect(), { retry: { attempts: 3 } })
    let runs = 0
    const call = idempotency.withIdempotency(scope, 'own', one, () => {
      runs += 1
      throw boom
    })
    await rejects(call, boom)
    strictEqual(runs, 1)
  })
})
