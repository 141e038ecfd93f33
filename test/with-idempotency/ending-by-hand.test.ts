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
  deepStrictEqual([code, constraint], ['23503', 'records_outcome_at_commit'])
}

describe('a function that tries to end its transaction', () => {
  const statements = [
    ...['commit', 'COMMIT WORK', 'end', 'abort', 'rollback', ' Rollback transaction;'],
    ...['-- done\ncommit', '/* done */ rollback and chain', "prepare transaction 'x'"],
  ]
  for (const [index, statement] of statements.entries()) {
    const key = `statement ${index}`
    it(`is stopped before ${JSON.stringify(statement)} is sent, so nothing it writes stays`, async () => {
      const failure = await failureOfCall(key, async (tx, context) => {
        await writeNote(tx, context)
        try {
          await sql.raw(statement).execute(tx)
        } finally {
          await writeNote(tx, { ...context, key: `${context.key} again` })
        }
      })
      strictEqual(isOncelyError(failure) && failure.code, 'transaction_control', String(failure))
      deepStrictEqual(await host.left(`${key} again`), nothing)
    })
  }

  it('fails with that also when it swallows it and goes on', async () => {
    const failure = await failureOfCall('goes on', async (tx, context) => {
      await sql`commit`.execute(tx).catch(() => undefined)
      return writeNote(tx, context)
    })
    strictEqual(isOncelyError(failure) && failure.code, 'transaction_control')
  })

  it('may use savepoints of its own', async () => {
    const result = await idempotency.withIdempotency(
      scope,
      'savepoint',
      one,
      async (tx, context) => {
        await sql`savepoint mine`.execute(tx)
        await writeNote(tx, context)
        await sql`rollback to savepoint mine`.execute(tx)
        await sql`ROLLBACK WORK TO mine`.execute(tx)
        await sql`release savepoint mine`.execute(tx)
        return writeNote(tx, context)
      },
    )
    strictEqual(result.kind, 'executed')
  })
})

describe('a function that ends its transaction by a statement hidden in another', () => {
  it('by commit: the database refuses, as the record has no outcome yet', async () => {
    const failure = await failureOfCall('commit hidden', async (tx, context) => {
      await writeNote(tx, context)
      await sql.raw('select 1; commit').execute(tx)
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

  for (const returned of ['ok', 'a refusal']) {
    it(`by rollback, and returns ${returned}: claim_lost`, async () => {
      const failure = await failureOfCall(`rollback hidden ${returned}`, async (tx, context) => {
        await writeNote(tx, context)
        await sql.raw('select 1; rollback').execute(tx)
        return returned === 'ok' ? 'ok' : context.reject('no')
      })
      isClaimLost(failure)
    })
  }
})

describe('a claim that is not the one this call made', () => {
  for (const [how, statement] of [
    ['deleted', sql`delete from idem.records where key = 'deleted'`],
    ['of another attempt', sql`update idem.records set attempt = gen_random_uuid()`],
  ] as const) {
    it(`A23: ${how}: is not completed, and nothing is kept`, async () => {
      const failure = await failureOfCall(how, async (tx, context) => {
        await writeNote(tx, context)
        await statement.execute(tx)
        return 'ok'
      })
      isClaimLost(failure)
    })
  }
})
