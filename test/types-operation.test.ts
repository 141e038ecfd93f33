// What the compiler promises of instances with options of an operation; see npm run typecheck.
import { test } from 'node:test'

import { expectTypeOf } from 'expect-type'
import type { Transaction } from 'kysely'
import {
  type Codec,
  fingerprint,
  type Idempotency,
  type OperationOptions,
  type Resolution,
} from 'oncely'

interface HostDatabase {
  notes: { id: string; body: string }
}

declare const plain: Idempotency<HostDatabase>
declare const tx: Transaction<HostDatabase>
declare const codec: Codec<'types'>
declare const leaving: Codec<'nothing'>
declare const wide: OperationOptions<HostDatabase>

const scope = { tenant: 't', actor: 'a', operation: 'o' }
const print = fingerprint({}, { version: 1 })
const make = () => ({ at: new Date(0) })
type Always =
  'executed' | 'replayed' | 'rejected' | 'conflict' | 'expired' | 'in_progress' | 'unknown'

// Never called: the compiler reads it all the same.
export async function kindsByOption() {
  const guarded = plain.withOptions({ authorize: () => true })
  const both = guarded.withOptions({ quota: { limit: 1, windowMs: 1_000 }, lockTimeoutMs: 5 })
  const one = await guarded.withIdempotency(scope, 'k', print, make)
  expectTypeOf(one.kind).toEqualTypeOf<Always | 'denied'>()
  const two = await both.withIdempotency(scope, 'k', print, make)
  expectTypeOf(two.kind).toEqualTypeOf<Always | 'denied' | 'quota_exceeded'>()
  const none = await plain
    .withOptions({ lockTimeoutMs: 5 })
    .withIdempotency(scope, 'k', print, make)
  expectTypeOf(none.kind).toEqualTypeOf<Always>()
  // Options whose type does not say which are there may have any of them.
  const any = await plain.withOptions(wide).withIdempotency(scope, 'k', print, make)
  expectTypeOf(any.kind).toEqualTypeOf<Always | 'denied' | 'quota_exceeded' | 'duplicate'>()
}

export async function duplicates() {
  const idempotency = plain.withOptions({
    businessIdentity: {
      constraint: 'c',
      resolve: async (on, { key }): Promise<Resolution<{ id: string }> | undefined> => {
        await on.selectFrom('notes').selectAll().where('id', '=', key).execute()
        return { disposition: 'conflict' }
      },
    },
  })
  const result = await idempotency.withIdempotency(scope, 'k', print, make)
  if (result.kind !== 'duplicate') return
  expectTypeOf(result.disposition).toEqualTypeOf<'replay' | 'conflict' | 'manual'>()
  if (result.disposition === 'replay') expectTypeOf(result.value).toEqualTypeOf<{ id: string }>()
}

export async function values() {
  const kept = await plain.withOptions({ codec }).withIdempotency(scope, 'k', print, make)
  if (kept.ok) expectTypeOf(kept.value).toEqualTypeOf<{ at: Date }>()
  const left = await plain.withOptions({ codec: leaving }).withIdempotency(scope, 'k', print, make)
  if (left.ok) expectTypeOf(left.value).toEqualTypeOf<unknown>()
  const may = await plain.withOptions(wide).withIdempotency(scope, 'k', print, make)
  if (may.kind === 'executed') expectTypeOf(may.value).toEqualTypeOf<unknown>()
  const rebuilt = await plain
    .withOptions({ replay: () => Promise.resolve({ now: 1 }) })
    .withIdempotency(scope, 'k', print, make)
  if (rebuilt.kind === 'executed') expectTypeOf(rebuilt.value).toEqualTypeOf<{ at: string }>()
  if (rebuilt.kind === 'replayed') expectTypeOf(rebuilt.value).toEqualTypeOf<{ now: number }>()
  const text = await plain
    .withOptions({ replay: () => 'text' })
    .withIdempotency(scope, 'k', print, make)
  if (text.kind === 'replayed') expectTypeOf(text.value).toEqualTypeOf<string>()
}

export async function joined() {
  const result = await plain.withTransaction(tx).withIdempotency(scope, 'k', print, make)
  expectTypeOf(result.kind).toEqualTypeOf<Exclude<Always, 'executed' | 'unknown'> | 'applied'>()
  if (result.ok) expectTypeOf(result.value).toEqualTypeOf<{ at: string }>()
}

export async function lookedUp() {
  const found = await plain.lookup<{ id: string }>(scope, 'k', [print, print])
  expectTypeOf(found.kind).toEqualTypeOf<
    'replayed' | 'rejected' | 'conflict' | 'expired' | 'in_progress' | 'absent'
  >()
  if (found.ok) expectTypeOf(found.value).toEqualTypeOf<{ id: string }>()
  const guarded = await plain.withOptions({ authorize: () => true }).lookup(scope, 'k', print)
  if (guarded.kind === 'denied') expectTypeOf(guarded.ok).toEqualTypeOf<false>()
}

export function wrongUse() {
  // @ts-expect-error the clock of tombstones is of all records
  plain.withOptions({ tombstoneWindowMs: 5 })
  // @ts-expect-error an array of fingerprints is not empty
  void plain.lookup(scope, 'k', [])
  // @ts-expect-error there is no such option
  plain.withOptions({ authorise: () => true })
  // @ts-expect-error authorize sees the host's tables
  plain.withOptions({ authorize: (on) => on.selectFrom('records').execute() })
  // @ts-expect-error a call has its own options, and no others
  void plain.withIdempotency(scope, 'k', print, make, { lockTimeoutMs: 1 })
}

test('the types hold: see npm run typecheck', () => undefined)
