import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { describe, it } from 'node:test'

import { sql } from 'kysely'
import { type CallContext, createIdempotency, isOncelyError, type Rejection } from 'oncely'

import { failureOf } from '../support/calls.ts'
import { testDatabase } from '../support/database.ts'
import { notesHost, nothing, one, scope, writeNote } from '../support/notes-host.ts'

const host = notesHost(testDatabase())
const idempotency = createIdempotency(host.connect())

/** Fails, leaves nothing, and the retry executes. */
async function failureOfCall(key: string, end: (context: CallContext) => unknown) {
  const failure = await failureOf(
    idempotency.withIdempotency(scope, key, one, async (tx, context) => {
      await writeNote(tx, context)
      return end(context)
    }),
  )
  deepStrictEqual(await host.left(key), nothing)
  strictEqual((await idempotency.withIdempotency(scope, key, one, writeNote)).kind, 'executed')
  return failure
}

describe('a rejection that the function did not return as it is', () => {
  let foreign: Rejection<string> | undefined
  const cases: Record<string, (context: CallContext) => unknown> = {
    'called, and nothing returned': (context) => void context.reject('no'),
    'called, and a value returned': (context) => {
      context.reject('no')
      return { ok: true }
    },
    'returned inside of a value': (context) => ({ refused: context.reject('no') }),
    'called twice, the first returned': (context) => {
      const first = context.reject('first')
      context.reject('second')
      return first
    },
    'called twice, the last returned': (context) => {
      context.reject('first')
      return context.reject('second')
    },
    'of another call': () => foreign,
    'of another call beside its own': (context) => {
      context.reject('own')
      return foreign
    },
  }
  for (const [name, end] of Object.entries(cases)) {
    it(`is a typed error and nothing is stored: ${name}`, async () => {
      await idempotency.withIdempotency(scope, `foreign ${name}`, one, (_, context) => {
        foreign = context.reject('of another call')
        return foreign
      })
      const failure = await failureOfCall(name, end)
      strictEqual(isOncelyError(failure) && failure.code, 'rejection_not_returned')
    })
  }

  it('does not hide the statement that failed first', async () => {
    const failure = await failureOf(
      idempotency.withIdempotency(scope, 'hidden', one, async (tx, context) => {
        await sql`select 1 / 0`.execute(tx).catch(() => undefined)
        context.reject('no')
      }),
    )
    strictEqual((failure as { code: string }).code, '22012')
    deepStrictEqual(await host.left('hidden'), nothing)
  })

  it('is thrown on when it was thrown', async () => {
    let made: unknown
    const failure = await failureOfCall('thrown', (context) => {
      made = context.reject('no')
      throw made
    })
    strictEqual(failure, made)
  })
})
