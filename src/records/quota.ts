import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import type { Claim } from './claim.ts'

/** A use counts for the window and up to a tenth of it, by which it is not known more exactly. */
const BUCKETS_A_WINDOW = 10

/**
 * Takes one of the actor's new keys: counts those of the window, a few rows, and adds one to a row
 * that nobody else is adding to, or to a new one. A single counter an actor would make every call wait
 * until the one before has committed. What others have not committed is not seen, so calls at the same
 * moment may exceed the limit by as many as they are.
 *
 * @returns `undefined`, or when the oldest of those that count leaves the window, in milliseconds.
 */
export async function takeQuota(
  own: OwnTables,
  { tenant, actor, attempt }: Claim,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
): Promise<number | undefined> {
  const width = windowMs / BUCKETS_A_WINDOW
  const uses = own.table('quota_uses')
  const counted = sql`${windowMs + width}::float8 * interval '1 millisecond'`
  const { rows } = await own.run(
    sql<{ free_in_ms: string }>`
      with this as (
        select statement_timestamp() as now, to_timestamp(
          floor(extract(epoch from statement_timestamp()) * 1000 / ${width}::float8) * ${width}::float8 / 1000
        ) as bucket
      ), used as (
        select coalesce(sum(uses), 0) as count, min(q.bucket) + ${counted} as free_at
        from ${uses} q, this
        where tenant = ${tenant} and actor = ${actor} and window_ms = ${windowMs} and q.bucket > now - ${counted}
      ), free as (
        select q.slot from ${uses} q, this
        where tenant = ${tenant} and actor = ${actor} and window_ms = ${windowMs} and q.bucket = this.bucket
        limit 1 for no key update of q skip locked
      ), added as (
        update ${uses} q set uses = uses + 1 from free, used, this
        where tenant = ${tenant} and actor = ${actor} and window_ms = ${windowMs} and q.bucket = this.bucket
          and q.slot = free.slot
          and count < ${limit}::bigint
      ), opened as (
        insert into ${uses} (tenant, actor, window_ms, bucket, slot, uses, forget_at)
        select ${tenant}, ${actor}, ${windowMs}, bucket, ${attempt}::uuid, 1, bucket + ${counted} from used, this
        where count < ${limit}::bigint and not exists (select from free)
      )
      select (extract(epoch from free_at - now) * 1000)::text as free_in_ms from used, this
      where count >= ${limit}::bigint`.compile(own.tables),
  )
  const [exceeded] = rows
  return exceeded ? Math.max(1, Math.ceil(Number(exceeded.free_in_ms))) : undefined
}

/**
 * Deletes uses that are past the window they were counted in.
 *
 * @returns how many; fewer than `batchSize` when no more are.
 */
export async function forgetQuotaUses(own: OwnTables, batchSize: number): Promise<number> {
  // Who has no quotas needs no right to delete their uses.
  const due = own.tables
    .selectFrom('quota_uses')
    .select('slot')
    .where('forget_at', '<=', sql<Date>`statement_timestamp()`)
    .limit(1)
  if ((await own.run(due)).rows.length === 0) return 0
  const { numAffectedRows } = await own.run(
    own.tables
      .with(
        (cte) => cte('due').materialized(),
        (db) =>
          db
            .selectFrom('quota_uses')
            .select(['tenant', 'actor', 'window_ms', 'bucket', 'slot'])
            .where('forget_at', '<=', sql<Date>`statement_timestamp()`)
            .orderBy('forget_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked(),
      )
      .deleteFrom('quota_uses')
      .using('due')
      .whereRef('quota_uses.tenant', '=', 'due.tenant')
      .whereRef('quota_uses.actor', '=', 'due.actor')
      .whereRef('quota_uses.window_ms', '=', 'due.window_ms')
      .whereRef('quota_uses.bucket', '=', 'due.bucket')
      .whereRef('quota_uses.slot', '=', 'due.slot'),
  )
  return Number(numAffectedRows)
}
