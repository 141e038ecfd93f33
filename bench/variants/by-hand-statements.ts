import { eventRow, type Order } from '../business.ts'
import type { Intent } from '../intent.ts'

// Named, so that a connection parses and plans each of them once.

export const BEGIN = 'begin isolation level read committed read write'

export function bound(attempt: string) {
  const text = `select current_setting('transaction_isolation') as isolation,
    set_config('oncely.lock_timeout', current_setting('lock_timeout'), true),
    set_config('lock_timeout', '250ms', true),
    set_config('idle_in_transaction_session_timeout', '60000ms', true),
    set_config('oncely.claim', $1, true)`
  return { name: 'bench_bound', text, values: [attempt] }
}

/** Guarded: behind a BEGIN that failed it must not be committed by itself. */
export function claim({ scope, key, print }: Intent, attempt: string) {
  const text = `insert into idem.records (tenant, actor, operation, key, attempt, state,
      fingerprint_algorithm, fingerprint_version, fingerprint, replay_until)
    select $1, $2, $3, $4, $5::uuid, 'claimed', $6, $7::int, $8::bytea,
      statement_timestamp() + $9::float8 * interval '1 millisecond'
    where current_setting('oncely.claim', true) = $10
    on conflict (tenant, actor, operation, key) do nothing
    returning concat_ws(' ', pg_current_xact_id(), transaction_timestamp(),
      set_config('lock_timeout', current_setting('oncely.lock_timeout'), true))`
  const { tenant, actor, operation } = scope
  const { algorithm, version, digest } = print
  const bytes = Buffer.from(digest, 'hex')
  const values = [tenant, actor, operation, key, attempt, algorithm, version, bytes]
  return { name: 'bench_claim', text, values: [...values, 86_400_000, attempt] }
}

export function read({ scope, key }: Intent) {
  const text = `select response, json_build_array(fingerprint_algorithm, fingerprint_version,
      encode(fingerprint, 'hex'), state, response_stored, resource_type, resource_id,
      extract(epoch from created_at) * 1000,
      state = 'expired' or replay_until <= clock_timestamp())::text as described
    from idem.records where tenant = $1 and actor = $2 and operation = $3 and key = $4
      and claimed is null`
  return {
    name: 'bench_read',
    text,
    values: [scope.tenant, scope.actor, scope.operation, key],
  }
}

/** Response and event in one statement, which fails where the claim is gone: COMMIT is behind it. */
export function store({ scope, key }: Intent, attempt: string, order: Order) {
  const text = `with stored as (
      update idem.records set state = 'completed', claimed = null, response = $1,
        completed_at = clock_timestamp()
      where tenant = $2 and actor = $3 and operation = $4 and key = $5 and attempt = $6
        and state = 'claimed'
      returning tenant),
    emitted as (
      insert into idem.outbox (tenant, id, type, aggregatetype, aggregateid, payload, headers)
      select stored.tenant, $7::uuid, $8, $9, $10, $11::json, $12::json from stored)
    select 1 / count(*) from stored`
  const { tenant, actor, operation } = scope
  const event = eventRow(order, tenant)
  const { id, type, aggregatetype, aggregateid, payload, headers } = event
  const response = Buffer.from(JSON.stringify(order))
  const identity = [tenant, actor, operation, key, attempt]
  const row = [id, type, aggregatetype, aggregateid, payload, headers]
  return { name: 'bench_store', text, values: [response, ...identity, ...row] }
}
