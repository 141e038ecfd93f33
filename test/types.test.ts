// What the compiler promises. `npm run typecheck` is the test; running it shows that the file is
// one the compiler saw.
import { test } from 'node:test'

import { expectTypeOf } from 'expect-type'
import type { Kysely } from 'kysely'
import {
  createIdempotency,
  fingerprint,
  type Idempotency,
  type IdempotencyOptions,
  type OncelyErrorCode,
  type Rejection,
  type Resource,
  type Result,
  type Stored,
} from 'oncely'

interface HostDatabase {
  notes: { id: string; body: string }
}

declare const db: Kysely<HostDatabase>
declare const idempotency: Idempotency<HostDatabase>

const scope = { tenant: 't', actor: 'a', operation: 'o' }
const print = fingerprint({}, { version: 1 })

// Never called: the compiler reads it all the same.
export async function results() {
  const result = await idempotency.withIdempotency(scope, 'k', print, async (tx, context) => {
    const row = await tx.selectFrom('notes').selectAll().executeTakeFirst()
    if (!row) return context.reject({ code: 'no_note', at: new Date(0) })
    if (row.body === '') return context.reject({ code: 'empty_note' })
    return { id: row.id, made: new Date(0), tags: ['a'], note: undefined as string | undefined }
  })

  // A Date is a string, on the first call and on replay.
  if (result.ok) {
    expectTypeOf(result.kind).toEqualTypeOf<'executed' | 'replayed'>()
    expectTypeOf(result.value.made).toEqualTypeOf<string>()
    expectTypeOf(result.value.id).toEqualTypeOf<string>()
    expectTypeOf(result.value.tags).toEqualTypeOf<string[]>()
    return result.value
  }

  // The switch is exhaustive: with a case less, `never` would not compile.
  switch (result.kind) {
    case 'rejected':
      // Typed from what the function rejects with.
      expectTypeOf(result.refusal.code).toEqualTypeOf<'no_note' | 'empty_note'>()
      if (result.refusal.code === 'no_note') {
        expectTypeOf(result.refusal.at).toEqualTypeOf<string>()
      }
      expectTypeOf(result.replayed).toEqualTypeOf<boolean>()
      return result.refusal
    case 'conflict':
      // @ts-expect-error a conflict says nothing of the first call
      return result.value as undefined
    case 'expired':
      expectTypeOf(result.resource).toEqualTypeOf<Resource | undefined>()
      return undefined
    case 'in_progress':
      expectTypeOf(result.retryAfterMs).toEqualTypeOf<number>()
      return undefined
    case 'unknown':
      expectTypeOf(result.cause).toEqualTypeOf<unknown>()
      return undefined
    default:
      return result satisfies never
  }
}

export function incomplete(result: Result<number>) {
  switch (result.kind) {
    case 'executed':
    case 'replayed':
    case 'rejected':
    case 'conflict':
    case 'expired':
    case 'in_progress':
      return undefined
    default:
      // @ts-expect-error `unknown` is not handled
      return result satisfies never
  }
}

export function wrongUse() {
  // @ts-expect-error a value must not be read before `ok` is known
  const early = (result: Result<number>) => String(result.value)
  // @ts-expect-error a scope has three parts
  void idempotency.withIdempotency({ tenant: 't', actor: 'a' }, 'k', print, () => 1)
  // @ts-expect-error a fingerprint is not a text
  void idempotency.withIdempotency(scope, 'k', 'sha256', () => 1)
  // @ts-expect-error a fingerprint needs a version
  fingerprint({})
  // @ts-expect-error there is no such option
  createIdempotency(db, { lockTimeout: 5 })
  void idempotency.withIdempotency(scope, 'k', print, async (tx, context) => {
    // @ts-expect-error the function sees the host's tables alone
    await tx.selectFrom('records').selectAll().execute()
    // @ts-expect-error an event needs its aggregate
    context.emit({ type: 'x', payload: 1 })
    return 1
  })
  return early
}

export async function withoutRejection() {
  const result = await idempotency.withIdempotency(scope, 'k', print, () => 1)
  // An earlier version of the function may have stored a refusal of any form.
  if (result.kind === 'rejected') expectTypeOf(result.refusal).toEqualTypeOf<unknown>()
  if (result.ok) expectTypeOf(result.value).toEqualTypeOf<number>()
}

export async function onlyRejection() {
  const result = await idempotency.withIdempotency(scope, 'k', print, (_tx, context) =>
    context.reject('closed'),
  )
  if (result.ok) expectTypeOf(result.value).toEqualTypeOf<never>()
  if (result.kind === 'rejected') expectTypeOf(result.refusal).toEqualTypeOf<'closed'>()
}

export function storedForms() {
  expectTypeOf<Stored<Date>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<undefined>>().toEqualTypeOf<undefined>()
  expectTypeOf<Stored<null>>().toEqualTypeOf<null>()
  expectTypeOf<Stored<boolean>>().toEqualTypeOf<boolean>()
  expectTypeOf<Stored<'a' | 1>>().toEqualTypeOf<'a' | 1>()
  expectTypeOf<Stored<bigint>>().toEqualTypeOf<never>()
  expectTypeOf<Stored<Map<string, number>>>().toEqualTypeOf<never>()
  expectTypeOf<Stored<unknown>>().toEqualTypeOf<unknown>()
  expectTypeOf<Stored<[Date, number]>>().toEqualTypeOf<[string, number]>()
  expectTypeOf<Stored<readonly Date[]>>().toEqualTypeOf<string[]>()
  expectTypeOf<Stored<{ a?: Date; readonly b: { c: Date | null } }>>().toEqualTypeOf<{
    a?: string
    b: { c: string | null }
  }>()
  expectTypeOf<Stored<{ toJSON(): { n: number } }>>().toEqualTypeOf<{ n: number }>()
  expectTypeOf<Rejection<1>>().not.toExtend<Rejection<2>>()
}

export function vocabulary() {
  expectTypeOf<Result<number>['kind']>().toEqualTypeOf<
    'executed' | 'replayed' | 'rejected' | 'conflict' | 'expired' | 'in_progress' | 'unknown'
  >()
  expectTypeOf<'schema_missing'>().toExtend<OncelyErrorCode>()
  expectTypeOf<keyof IdempotencyOptions>().toEqualTypeOf<
    | 'schema'
    | 'lockTimeoutMs'
    | 'replayWindowMs'
    | 'tombstoneWindowMs'
    | 'retryAfterMs'
    | 'idleInTransactionTimeoutMs'
    | 'resolveTimeoutMs'
    | 'replayLock'
    | 'readFirst'
    | 'maxResponseBytes'
    | 'retry'
    | 'onOutcome'
  >()
}

test('the types hold: see npm run typecheck', () => undefined)
