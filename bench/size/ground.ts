import { randomBytes, randomUUID } from 'node:crypto'

import { type Dialect, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool } from 'pg'

import { createIdempotency, fingerprint, type Idempotency } from '../../src/index.ts'
import { migrateToLatest } from '../../src/migrations.ts'
import { oncelyDialect } from '../../src/pg.ts'

export interface Host {
  size_notes: { id: string; body: string }
}

/** A host with our tables in a schema of their own. */
export interface Ground {
  readonly admin: Kysely<unknown>
  readonly url: string
  readonly schema: string
}

/** Where calls are made. */
export interface Calls {
  readonly db: Kysely<Host>
  readonly idempotency: Idempotency<Host>
}

export const scope = { tenant: 'tenant-0001', actor: 'user-0001', operation: 'orders.create' }
export const decisive = fingerprint(1, { version: 1 })

let schemas = 0

/** A schema that nobody has written to. */
export async function freshGround(
  admin: Kysely<unknown>,
  url: string,
  fillfactor?: number,
): Promise<Ground> {
  const schema = `size_${(schemas += 1)}`
  await migrateToLatest(admin, { schema })
  const ground = { admin, url, schema }
  if (fillfactor !== undefined) {
    await sql`alter table ${recordsOf(ground)} set (fillfactor = ${sql.lit(fillfactor)})`.execute(
      admin,
    )
  }
  await sql`create table if not exists size_notes (id uuid primary key, body text)`.execute(admin)
  return ground
}

export function recordsOf({ schema }: Ground) {
  return sql.id(schema, 'records')
}

/** Makes calls on so many connections, and closes them behind it, so that their counts are told. */
export async function withCalls<Result>(
  { url, schema }: Ground,
  connections: number,
  run: (calls: Calls) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool({ connectionString: url, max: connections, pipeline: true })
  const dialect: Dialect = oncelyDialect(new PostgresDialect({ pool }))
  const db = new Kysely<Host>({ dialect })
  try {
    return await run({ db, idempotency: createIdempotency(db, { schema }) })
  } finally {
    await db.destroy()
  }
}

/** So many runs by so many callers, each of which begins the next when one has ended. */
export async function repeat(
  count: number,
  callers: number,
  run: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

/** A response of that size as it is stored: letters that cannot be compressed, and two quotes. */
export function responseOf(bytes: number): string {
  return randomBytes(bytes)
    .toString('base64')
    .slice(0, bytes - 2)
}

/** Up to a third smaller or larger: of one size, some fill a page by chance, and always the same. */
export function responseAround(bytes: number): string {
  return responseOf(Math.round(bytes * (2 / 3 + (Math.random() * 2) / 3)))
}

export async function writeNote(tx: Transaction<Host>): Promise<void> {
  await tx.insertInto('size_notes').values({ id: randomUUID(), body: 'x' }).execute()
}

/** Records of calls made long ago, past their replay window; their responses have 300 bytes on average. */
export async function fill(ground: Ground, count: number): Promise<void> {
  const { tenant, actor, operation } = scope
  await sql`
    insert into ${recordsOf(ground)} (tenant, actor, operation, key, attempt, state,
      fingerprint_algorithm, fingerprint_version, fingerprint, response, claimed, created_at,
      completed_at, replay_until)
    select ${tenant}, ${actor}, ${operation}, gen_random_uuid()::text, gen_random_uuid(), 'completed',
      'sha256', 1, sha256(n::text::bytea), decode(repeat(md5(n::text), 13 + n % 13), 'hex'),
      null, at, at, at
    from generate_series(1, ${count}::int) n,
      lateral (select now() - interval '1 day' + n * interval '1 millisecond' as at)`.execute(
    ground.admin,
  )
}

/** Bytes of the table, of what is kept beside it because it is long, and of its indexes. */
export async function sizeOf(
  ground: Ground,
): Promise<{ heap: number; beside: number; indexes: number; total: number }> {
  const name = `${ground.schema}.records`
  const { rows } = await sql<{ heap: string; beside: string; indexes: string }>`
    select pg_relation_size(${name}::regclass)::text as heap,
      pg_total_relation_size(reltoastrelid)::text as beside,
      pg_indexes_size(${name}::regclass)::text as indexes
    from pg_class where oid = ${name}::regclass`.execute(ground.admin)
  const [found] = rows
  const heap = Number(found?.heap)
  const beside = Number(found?.beside)
  const indexes = Number(found?.indexes)
  return { heap, beside, indexes, total: heap + beside + indexes }
}
