import { sql } from 'kysely'

/** A row of `records` as a claim writes it, for tests that write it themselves. */
export function claimedRow(key: string) {
  return {
    tenant: 't1',
    actor: 'u1',
    operation: 'raw',
    key,
    attempt: '00000000-0000-4000-8000-000000000000',
    state: 'claimed',
    fingerprint_algorithm: 'sha256',
    fingerprint_version: 1,
    fingerprint: Buffer.alloc(32),
    replay_until: sql<Date>`now() + interval '1 day'`,
  }
}

/** What storing a response adds to it. */
export const outcome = {
  state: 'completed',
  claimed: null,
  response: Buffer.from('{}'),
  completed_at: sql<Date>`now()`,
}

export function completedRow(key: string) {
  return { ...claimedRow(key), ...outcome }
}
