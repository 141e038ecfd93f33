import { sql } from 'kysely'

import type { OwnTables } from '../postgres/enter.ts'
import type { Claim } from './claim.ts'

/**
 * Takes one of the actor's new keys. One row a key instead of one counter an actor, whose row every
 * call would wait for; so calls at the same moment do not see each other, and may exceed the limit
 * by as many as they are.
 *
 * @returns `undefined`, or when the oldest of those that count leaves the window, in milliseconds.
 */
export async function takeQuota(
  own: OwnTables,
  { tenant, actor, attempt }: Claim,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
): Promise<number | undefined> {
  const window = sql`${windowMs}::float8 * interval '1 millisecond'`
  const { rows } = await own.run(
    own.tables
      .with('used', (db) =>
        db
          .selectFrom(
            db
              .selectFrom('quota_uses')
              .select('used_at')
              .where('tenant', '=', tenant)
              .where('actor', '=', actor)
              .where('used_at', '>', sql<Date>`statement_timestamp() - ${window}`)
              .orderBy('used_at', 'desc')
              .limit(limit)
              .as('counted'),
          )
          .select([
            sql<string>`count(*)`.as('count'),
            sql<string>`ceil(extract(epoch from min(used_at) + ${window} - statement_timestamp()) * 1000)::text`.as(
              'free_in_ms',
            ),
          ]),
      )
      .with('taken', (db) =>
        db
          .insertInto('quota_uses')
          .columns(['tenant', 'actor', 'used_at', 'attempt', 'forget_at'])
          .expression((eb) =>
            eb
              .selectFrom('used')
              .select([
                sql.val(tenant).as('tenant'),
                sql.val(actor).as('actor'),
                sql<Date>`statement_timestamp()`.as('used_at'),
                sql<string>`${attempt}::uuid`.as('attempt'),
                sql<Date>`statement_timestamp() + ${window}`.as('forget_at'),
              ])
              .where(sql<boolean>`count < ${limit}`),
          )
          .returning('tenant'),
      )
      .selectFrom('used')
      .select('free_in_ms')
      .where((eb) => eb.not(eb.exists(eb.selectFrom('taken').select('tenant')))),
  )
  const [exceeded] = rows
  return exceeded ? Math.max(1, Number(exceeded.free_in_ms)) : undefined
}

/**
 * Deletes uses that are past the window they were counted in.
 *
 * @returns how many; fewer than `batchSize` when no more are.
 */
export async function forgetQuotaUses(own: OwnTables, batchSize: number): Promise<number> {
  const { numAffectedRows } = await own.run(
    own.tables
      .with(
        (cte) => cte('due').materialized(),
        (db) =>
          db
            .selectFrom('quota_uses')
            .select(['tenant', 'actor', 'used_at', 'attempt'])
            .where('forget_at', '<=', sql<Date>`statement_timestamp()`)
            .orderBy('forget_at')
            .limit(batchSize),
      )
      .deleteFrom('quota_uses')
      .using('due')
      .whereRef('quota_uses.tenant', '=', 'due.tenant')
      .whereRef('quota_uses.actor', '=', 'due.actor')
      .whereRef('quota_uses.used_at', '=', 'due.used_at')
      .whereRef('quota_uses.attempt', '=', 'due.attempt'),
  )
  return Number(numAffectedRows)
}
