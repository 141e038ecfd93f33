import { Client } from 'pg'

import { type FingerprintName, fingerprintOf, fingerprints } from './fingerprints.ts'

/** A record as it is committed. */
export interface SeenRecord {
  readonly state: string
  readonly fingerprint: FingerprintName | 'unknown'
  readonly attempt: string
  readonly response: string | null
  /** Past its replay window. */
  readonly due: boolean
  /** A tombstone past its own window. */
  readonly purgeable: boolean
}

/** What is left when all have ended. */
export interface Left {
  /** Each the id of a run of the business function. */
  readonly rows: readonly string[]
  readonly events: readonly string[]
  readonly records: readonly SeenRecord[]
  /** Of the sessions that were asked for, as the server calls them. */
  readonly states: readonly string[]
}

/** What stands under a key before anybody comes. */
export interface Before {
  readonly state: 'completed' | 'expired'
  /** For how long it has been past its replay window, and a tombstone if it is one. */
  readonly forMs: number
}

const look = `select state, encode(fingerprint, 'hex') as digest, attempt,
    convert_from(response, 'UTF8') as response,
    state = 'expired' or replay_until <= clock_timestamp() as due,
    coalesce(expired_at <= clock_timestamp() - $2 * interval '1 millisecond', false) as purgeable
  from idem.records where key = $1`

const leftBehind = `select
    array(select run from runs where key = $1 order by run) as rows,
    array(select payload ->> 'run' from idem.outbox where aggregateid = $1 order by 1) as events,
    (select coalesce(json_agg(record), '[]') from (${look}) record) as records,
    array(select state from pg_stat_activity where pid = any($3)) as states`

type Row = Omit<SeenRecord, 'fingerprint'> & { readonly digest: string }

/** How many schedules go between two that start from empty files. */
const DELETES = 200

/** A connection outside of what is checked, whose statements nobody holds. */
export class Watcher {
  readonly #client: Client
  #cleared = 0

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Watcher> {
    const client = new Client({ connectionString: url, application_name: 'watcher' })
    client.on('error', () => undefined)
    await client.connect()
    // An autovacuum that gives pages back takes a lock for a moment, and would have a say in schedules.
    await client.query(`
      create table public.runs (key text not null, run text not null);
      alter table public.runs set (autovacuum_enabled = off);
      alter table idem.records set (autovacuum_enabled = off);
      alter table idem.outbox set (autovacuum_enabled = off)`)
    return new Watcher(client)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  /** Takes everything away, for a sweeper looks at every key. */
  async clear(key: string, before: Before | undefined): Promise<void> {
    // Truncating alone takes longer, and deleting alone leaves ever more behind.
    this.#cleared += 1
    await this.#client.query(
      this.#cleared % DELETES === 0
        ? 'truncate idem.records, idem.outbox, runs'
        : 'delete from idem.records; delete from idem.outbox; delete from runs',
    )
    if (!before) return
    const { algorithm, version, digest } = fingerprints.one
    const { state, forMs } = before
    const past = `now() - ${forMs} * interval '1 millisecond'`
    await this.#client.query(
      `insert into idem.records (tenant, actor, operation, key, attempt, state,
          fingerprint_algorithm, fingerprint_version, fingerprint, response, claimed,
          created_at, completed_at, replay_until, expired_at)
        values ('t1', 'u1', 'runs.make', $1, gen_random_uuid(), $2, $3, $4, decode($5, 'hex'), $6, null,
          ${past}, ${past}, ${past}, case $2 when 'expired' then ${past} end)`,
      [key, state, algorithm, version, digest, state === 'completed' ? '{"run":"before"}' : null],
    )
  }

  /**
   * Which sessions wait for a lock, all of them at one moment; of `pg_blocking_pids` each answer
   * has a moment of its own.
   */
  async waiting(): Promise<ReadonlySet<number>> {
    const { rows } = await this.#client.query<{ pid: number }>({
      name: 'waiting',
      text: 'select pid from pg_locks where not granted',
    })
    return new Set(rows.map(({ pid }) => pid))
  }

  async records(key: string, tombstoneWindowMs: number): Promise<SeenRecord[]> {
    const values = [key, tombstoneWindowMs]
    const { rows } = await this.#client.query<Row>({ name: 'look', text: look, values })
    return rows.map(seen)
  }

  /**
   * @param pids - of the sessions whose state is asked for.
   */
  async left(key: string, tombstoneWindowMs: number, pids: readonly number[] = []): Promise<Left> {
    const { rows } = await this.#client.query<Omit<Left, 'records'> & { records: Row[] }>({
      name: 'left',
      text: leftBehind,
      values: [key, tombstoneWindowMs, pids],
    })
    const [left] = rows
    if (!left) throw new Error('a select without a row')
    return { ...left, records: left.records.map(seen) }
  }

  /** Waits until the shortest window there is has passed, by the database's clock. */
  async untilWindowOver(): Promise<void> {
    const { rows } = await this.#client.query<{ end: string }>(
      `select (clock_timestamp() + interval '1 millisecond')::text as end`,
    )
    const text = 'select clock_timestamp() > $1::timestamptz as over'
    const over = () =>
      this.#client.query<{ over: boolean }>({ name: 'over', text, values: [rows[0]?.end] })
    while (!(await over()).rows[0]?.over);
  }
}

function seen({ digest, ...row }: Row): SeenRecord {
  return { ...row, fingerprint: fingerprintOf(digest) }
}
