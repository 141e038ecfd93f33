import { deepStrictEqual, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { hosts } from '../support/hosts.ts'
import { notesHost, nothing, one, scope, writeNote, written } from '../support/notes-host.ts'
import { wireProxy } from '../support/wire-proxy.ts'

const database = testDatabase()
const host = notesHost(database)
const proxy = wireProxy(database.url)

for (const name of ['plain', 'oncelyDialect'] as const) {
  describe(`the caller's own COMMIT is lost, ${name}: its error, and a new transaction ends in the truth`, () => {
    for (const [fate, left, kind] of [
      ['lost before', nothing, 'applied'],
      ['lost behind', written, 'replayed'],
    ] as const) {
      it(`${fate}: ${kind}`, async () => {
        const key = `${fate} ${name}`
        const db = host.connect({ connectionString: proxy.url(), max: 1, manners: hosts[name] })
        const kinds: string[] = []
        const transact = () =>
          db.transaction().execute(async (tx) => {
            const joined = createIdempotency(db).withTransaction(tx)
            kinds.push((await joined.withIdempotency(scope, key, one, writeNote)).kind)
          })
        proxy.meddle(fate)
        const failure = await failureOf(transact())
        ok(failure instanceof Error && !isOncelyError(failure), String(failure))
        deepStrictEqual(await host.left(key), left)
        await transact()
        deepStrictEqual(kinds, ['applied', kind])
        deepStrictEqual(await host.left(key), written)
      })
    }
  })
}
