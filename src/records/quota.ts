import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import type { RecordIdentity } from './identity.ts'

/** A use counts for the window and up to a tenth of it, by which it is not known more exactly. */
const BUCKETS_A_WINDOW = 10

/**
 * Takes one of the actor's new keys: counts those of the window, a few rows, and adds one to the row
 * of this backend, to which nobody else adds. A single counter an actor would make every call wait
 * until the one before has committed. What others have not committed is not seen, so calls at the same
 * moment may exceed the limit by as many as they are.
 *
 * @returns `undefined`, or when the oldest of those that count leaves the window, in milliseconds.
 */
export async function takeQuota(
  own: OwnTables,
  { tenant, actor }: RecordIdentity,
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
      ), added as (
        insert into ${uses} as q (tenant, actor, window_ms, bucket, backend, uses, forget_at)
        select ${tenant}::text, ${actor}::text, ${windowMs}, bucket, pg_backend_pid(), 1, bucket + ${counted}
        from used, this where count < ${limit}::bigint
        on conflict (tenant, actor, window_ms, bucket, backend) do update set uses = q.uses + 1
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
    .select('backend')
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
            .select(['tenant', 'actor', 'window_ms', 'bucket', 'backend'])
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
      .whereRef('quota_uses.backend', '=', 'due.backend'),
  )
  return Number(numAffectedRows)
}
