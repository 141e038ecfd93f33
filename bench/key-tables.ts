import { type Generated, type Kysely, sql } from 'kysely'

/** What those write who keep keys in a table of their own. */
export interface KeyRow {
  tenant: string
  actor: string
  operation: string
  key: string
  attempt: string
  state: 'claimed' | 'completed'
  fingerprint_algorithm: string
  fingerprint_version: number
  fingerprint: Buffer
  response: Buffer | null
  /** Null behind its default once there is a response. */
  claimed: Generated<boolean | null>
  completed_at: Date | null
  replay_until: Date
}

/** The same twice, so that a reader sees how much of a difference is the table's and how much the code's. */
export interface KeyTables {
  /** Like with like: defined as our records are. */
  bench_keys: KeyRow
  /** What is quickly written: no limits, no rules, no index but the primary key. */
  bench_lean_keys: KeyRow
}

/** Behind the migrations, as one of them is a copy. */
export async function createKeyTables(db: Kysely<KeyTables>): Promise<void> {
  // Types, defaults, checks and indexes, but not what refuses a claim at COMMIT: committing one is what
  // three commits are about.
  await sql`create table bench_keys (like idem.records including all)`.execute(db)
  await sql`create table bench_lean_keys (
      tenant text, actor text, operation text, key text, attempt uuid not null, state text not null,
      fingerprint_algorithm text not null, fingerprint_version int not null,
      fingerprint bytea not null, response bytea, claimed boolean default true,
      completed_at timestamptz,
      replay_until timestamptz not null,
      primary key (tenant, actor, operation, key))`.execute(db)
}

/** Fills both with the records that there are. */
export async function copyRecords(db: Kysely<KeyTables>): Promise<void> {
  await sql`insert into bench_keys select * from idem.records`.execute(db)
  await sql`insert into bench_lean_keys
    select tenant, actor, operation, key, attempt, state, fingerprint_algorithm,
      fingerprint_version, fingerprint, response, claimed, completed_at, replay_until
    from idem.records`.execute(db)
}
