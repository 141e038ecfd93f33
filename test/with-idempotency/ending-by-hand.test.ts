import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql, type Transaction } from 'kysely'
import { type CallContext, createIdempotency, isOncelyError } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import {
  type NotesDatabase,
  notesHost,
  nothing,
  one,
  scope,
  writeNote,
} from '../support/notes-host.ts'

type Tx = Transaction<NotesDatabase>

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect({ max: 1 }))

/** Fails, keeps nothing, and leaves the one connection in order for the retry. */
async function failureOfCall(
  key: string,
  fn: (tx: Tx, context: CallContext) => unknown,
): Promise<unknown> {
  const failure = await failureOf(idempotency.withIdempotency(scope, key, one, fn))
  deepStrictEqual(await host.left(key), nothing)
  strictEqual((await idempotency.withIdempotency(scope, key, one, writeNote)).kind, 'executed')
  return failure
}

function isClaimLost(failure: unknown): void {
  strictEqual(isOncelyError(failure) && failure.code, 'claim_lost', String(failure))
}

function isRefusedByTheDatabase(failure: unknown): void {
  const { code, constraint } = failure as { code: string; constraint: string }
  deepStrictEqual([code, constraint], ['23514', 'records_outcome_at_commit'])
}

describe('a function that ends the transaction by hand', () => {
  it('by commit: the database refuses, as the record has no outcome yet', async () => {
    const failure = await failureOfCall('commit', async (tx, context) => {
      await writeNote(tx, context)
      await sql`commit`.execute(tx)
      return 'ok'
    })
    isRefusedByTheDatabase(failure)
  })

  it('by commit, and swallows the refusal: the call fails with it', async () => {
    const failure = await failureOfCall('commit swallowed', async (tx, context) => {
      await writeNote(tx, context)
      await sql`commit`.execute(tx).catch(() => undefined)
      return 'ok'
    })
    isRefusedByTheDatabase(failure)
  })

  it('by checking all constraints at once: likewise', async () => {
    const failure = await failureOfCall('constraints', async (tx, context) => {
      await writeNote(tx, context)
      await sql`set constraints all immediate`.execute(tx)
      return 'ok'
    })
    isRefusedByTheDatabase(failure)
  })

  it('by rollback: claim_lost', async () => {
    const failure = await failureOfCall('rollback', async (tx, context) => {
      await writeNote(tx, context)
      await sql`rollback`.execute(tx)
      return 'ok'
    })
    isClaimLost(failure)
  })

  it('by rollback, without an event: claim_lost', async () => {
    const failure = await failureOfCall('rollback quietly', async (tx) => {
      await sql`rollback`.execute(tx)
    })
    isClaimLost(failure)
  })

  it('by rollback, and goes on in a transaction of its own: claim_lost', async () => {
    const failure = await failureOfCall('rollback and begin', async (tx, context) => {
      await sql`rollback`.execute(tx)
      await sql`begin`.execute(tx)
      await writeNote(tx, context)
      return 'ok'
    })
    isClaimLost(failure)
  })

  it('by rollback, and rejects: claim_lost', async () => {
    const failure = await failureOfCall('rollback and reject', async (tx, context) => {
      await writeNote(tx, context)
      await sql`rollback`.execute(tx)
      return context.reject('no')
    })
    isClaimLost(failure)
  })
})

describe('a claim that is not the one this call made (A23)', () => {
  for (const [how, statement] of [
    ['deleted', sql`delete from idem.records where key = 'deleted'`],
    ['of another attempt', sql`update idem.records set attempt = gen_random_uuid()`],
  ] as const) {
    it(`${how}: is not completed, and nothing is kept`, async () => {
      const failure = await failureOfCall(how, async (tx, context) => {
        await writeNote(tx, context)
        await statement.execute(tx)
        return 'ok'
      })
      isClaimLost(failure)
    })
  }
})
