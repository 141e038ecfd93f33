import { type Kysely, sql } from 'kysely'

import { print, type Tables } from './business.ts'
import type { Loaded } from './intent.ts'

/**
 * Records as calls leave them, by one statement; `past` ones are past their replay window. The keys
 * are spread as random ones are, and known: see `loadedIntent`.
 *
 * @param from - how many of these there are already.
 */
export async function loadRecords(
  db: Kysely<Tables>,
  { prefix, count }: Loaded,
  from = 0,
): Promise<void> {
  await sql`insert into idem.records
      (tenant, actor, operation, key, attempt, state, fingerprint_algorithm, fingerprint_version,
       fingerprint, response, claimed, completed_at, replay_until)
    select 't' || n % 100, 'u' || n % 1000, 'orders.create', md5(${prefix}::text || n),
      gen_random_uuid(), 'completed', ${print.algorithm}, ${print.version}::int,
      decode(${print.digest}, 'hex'), convert_to('{"id":"' || gen_random_uuid() || '"}', 'UTF8'),
      null, now(), now() + ${prefix === 'live' ? '1 day' : '-1 minute'}::interval
    from generate_series(${from + 1}::int, ${from + count}::int) n`.execute(db)
}

/** So that neither falls into the rounds of one variant. */
export async function settle(db: Kysely<Tables>): Promise<void> {
  await sql`vacuum (analyze)`.execute(db)
  await sql`checkpoint`.execute(db)
}
