import { type Kysely, sql } from 'kysely'

import { domain, OCTETS, textDomain } from './domain.ts'
import type { TableMigration } from './table-migration.ts'

/** What the columns of a record have to agree in. */
const judged = `state text, claimed boolean, response bytea, response_status smallint, response_headers json,
  completed_at timestamptz, expired_at timestamptz, resource_type text, resource_id text`

const soundness = `
begin
  return case
    when response is not null then
      state in ('completed', 'rejected') and completed_at is not null and expired_at is null
      and claimed is null
    when response_status is not null or response_headers is not null then false
    when claimed then state = 'claimed' and completed_at is null and expired_at is null
    else state = 'expired' and completed_at is not null and expired_at is not null and claimed is null
  end
  and (resource_type is null) = (resource_id is null);
end
`

/**
 * One row for each (scope, key). Everything rests on the primary key, so its columns compare by
 * byte: a changed collation library must not corrupt the index.
 */
export function records(schema: string): TableMigration {
  const table = sql.id(schema, 'records')
  const quotaUses = sql.id(schema, 'quota_uses')
  const uncommittable = sql.id(schema, 'uncommittable')
  const sound = sql.id(schema, 'is_sound_record')
  const text = textDomain(schema, 'records_text')
  // A check's `value` compares as the base type does, so that the octets have to be asked for.
  const key = domain(
    schema,
    'records_key',
    OCTETS,
    `octet_length(value) <= 255 and value collate "C" ~ '^[!-~]([ -~]*[!-~])?$'`,
  )
  const algorithm = domain(
    schema,
    'records_fingerprint_algorithm',
    OCTETS,
    `value in ('sha256', 'hmac-sha256')`,
  )
  const version = domain(schema, 'records_fingerprint_version', 'integer', 'value >= 1')
  const digest = domain(schema, 'records_fingerprint', 'bytea', 'octet_length(value) = 32')
  const status = domain(schema, 'records_response_status', 'smallint', 'value between 100 and 599')
  const uses = domain(schema, 'quota_uses_uses', 'integer', 'value >= 1')
  const domains = [text, key, algorithm, version, digest, status, uses]

  return {
    tables: ['records', 'quota_uses', 'uncommittable'],

    async up(db: Kysely<unknown>) {
      for (const { create } of domains) await create(db)
      // What refers to it cannot be committed: a claim does until it has its outcome, so that no claim
      // gets through without one, whoever commits. A foreign key is checked in C, and not at all once
      // the outcome is there; a trigger with a condition would be parsed at each claim and each response.
      await sql`
        create table ${uncommittable} (
          claimed boolean,
          constraint uncommittable_pkey primary key (claimed),
          constraint uncommittable_check check (false)
        )`.execute(db)
      const why = `Has no row, ever: records_outcome_at_commit refers to it, so that no claim is committed without its outcome.`
      await sql`comment on table ${uncommittable} is ${sql.lit(why)}`.execute(db)

      // As a CHECK by itself it would be parsed and planned anew at every claim and every response, in
      // proportion to its length; of a function the plan is kept.
      await sql`create function ${sound}(${sql.raw(judged)}) returns boolean
        language plpgsql immutable as ${sql.lit(soundness)}`.execute(db)
      // Whatever a host's default privileges are: who may write a record may have it checked.
      await sql`grant execute on function ${sound} to public`.execute(db)

      // A tombstone keeps key, fingerprint and resource; the response goes. Only columns that the
      // claim sets are indexed, so that storing the response can be a HOT update. What compares columns
      // is a single CHECK, as each is planned anew at every claim and every response.
      //
      // By `npm run bench:size`, responses of 300 octets, 8 writers: with fillfactor 90 all stores are HOT,
      // and with 100 some 92 %, but its heap is 40 % larger, for good; so it stays 100. Columns of fixed width
      // first would save 12 of the 520 octets of a row, which pages do not show; so they are in the order of
      // the protocol. The index for the sweeper is on what the claim sets and leaves tombstones out.
      await sql`
        create table ${table} (
          tenant ${text.type} not null,
          actor ${text.type} not null,
          operation ${text.type} not null,
          key ${key.type} not null,
          attempt uuid not null,
          state text collate "C" not null,
          fingerprint_algorithm ${algorithm.type} not null,
          fingerprint_version ${version.type} not null,
          fingerprint ${digest.type} not null,
          response bytea,
          response_stored boolean not null default true,
          claimed boolean default true,
          response_status ${status.type},
          response_headers json,
          resource_type ${text.type},
          resource_id ${text.type},
          created_at timestamptz not null default statement_timestamp(),
          completed_at timestamptz,
          replay_until timestamptz not null,
          expired_at timestamptz,
          constraint records_pkey primary key (tenant, actor, operation, key),
          constraint records_state_check check (${sound}(
            state, claimed, response, response_status, response_headers, completed_at, expired_at,
            resource_type, resource_id
          )),
          constraint records_outcome_at_commit foreign key (claimed) references ${uncommittable}
            deferrable initially deferred
        )`.execute(db)

      await sql`
        create index records_replay_until_idx on ${table} (replay_until) where expired_at is null
      `.execute(db)
      // For purge. Holds tombstones alone, so that neither a claim nor a response touches it.
      await sql`
        create index records_expired_at_idx on ${table} (expired_at) where expired_at is not null
      `.execute(db)

      // The new keys of operations with a quota, counted in tenths of its window. One row a tenth and
      // backend, which has one transaction at a time: two calls would wait for each other on one row.
      await sql`
        create table ${quotaUses} (
          tenant ${text.type} not null,
          actor ${text.type} not null,
          window_ms bigint not null,
          bucket timestamptz not null,
          backend integer not null,
          uses ${uses.type} not null,
          forget_at timestamptz not null,
          constraint quota_uses_pkey primary key (tenant, actor, window_ms, bucket, backend)
        )`.execute(db)

      await sql`create index quota_uses_forget_at_idx on ${quotaUses} (forget_at)`.execute(db)
    },

    async down(db: Kysely<unknown>) {
      await sql`drop table ${quotaUses}`.execute(db)
      await sql`drop table ${table}`.execute(db)
      await sql`drop table ${uncommittable}`.execute(db)
      await sql`drop function ${sound}`.execute(db)
      for (const { drop } of domains) await drop(db)
    },
  }
}
