import { type Kysely, sql } from 'kysely'

/** What a session waits for, as `pg_stat_activity` shows it. */
export interface ObservedWait {
  readonly pid: number
  readonly type: string
  readonly event: string
}

/** Long enough for any machine; only a test that would fail anyway waits this long. */
const DEADLINE_MS = 20_000

/**
 * Looks at `pg_stat_activity` until a session of that application waits for a lock.
 *
 * @param count - how many such sessions there have to be.
 */
export async function untilWaiting<DB>(
  observer: Kysely<DB>,
  applicationName: string,
  count = 1,
): Promise<ObservedWait> {
  const deadline = Date.now() + DEADLINE_MS
  while (Date.now() < deadline) {
    const { rows } = await sql<ObservedWait>`
      select pid, wait_event_type as type, wait_event as event
      from pg_stat_activity
      where application_name = ${applicationName} and datname = current_database()
        and wait_event_type = 'Lock'`.execute(observer)
    const first = rows[0]
    if (first && rows.length >= count) return first
  }
  throw new Error(`no session of '${applicationName}' has come to wait for a lock`)
}

/** Looks at `pg_stat_activity` until the session of that process is there no more. */
export async function untilSessionEnds<DB>(observer: Kysely<DB>, pid: number): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  while (Date.now() < deadline) {
    const { rows } = await sql`select from pg_stat_activity where pid = ${pid}`.execute(observer)
    if (rows.length === 0) return
  }
  throw new Error(`the session of process ${pid} does not end`)
}
