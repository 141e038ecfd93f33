import { CompiledQuery, type Kysely, sql } from 'kysely'

import { isOncelyError, OncelyError } from '../errors.ts'
import { transactRepeatable } from '../postgres/transact.ts'
import { type Bookkeeping, readBookkeeping } from './bookkeeping.ts'
import type { Step } from './plan.ts'
import { textOf } from './statements.ts'

/**
 * The lock that Kysely's own migrator takes, so that kysely-ctl and a host's migrator keep out too;
 * but for the transaction alone, whose end gives it back. One for the session would be stranded
 * behind a transaction pooler, where lock and unlock can go to different servers.
 */
const LOCK = sql`select pg_advisory_xact_lock(3853314791062309107)`

/**
 * Runs a plan in one transaction, made under the lock from what is applied at that moment. Inside
 * the caller's transaction where the caller has one, such as a migration step of the host.
 *
 * @returns the names of the steps that were run.
 */
export async function runPlan<DB>(
  db: Kysely<DB>,
  schema: string,
  plan: (state: Bookkeeping) => Promise<readonly Step[]>,
): Promise<readonly string[]> {
  const work = async (trx: Kysely<DB>): Promise<readonly string[]> => {
    const own = trx.withoutPlugins()
    const { lock, statement } = await timeouts(own)
    // Another migrator may take long, and so may a migration: the role's bounds are for queries. That
    // on locks is back before anything is changed, so that nobody queues up behind us for long.
    await setTimeouts(own, '0', '0')
    await LOCK.execute(own)
    await setTimeouts(own, lock, '0')
    const steps = await plan(await readBookkeeping(own, schema))
    for (const step of steps) await runStep(own, step)
    await setTimeouts(own, lock, statement)
    return steps.map(({ name }) => name)
  }
  try {
    if (db.isTransaction) return await work(db)
    return await transactRepeatable(db, async (trx) => {
      const outcome = await work(trx)
      return { end: outcome.length > 0 ? 'commit' : 'rollback', outcome }
    })
  } catch (error) {
    throw isOncelyError(error) ? error : failed('migration', error)
  }
}

/** What `runPlan` would run, as a script for psql. */
export function scriptOf(steps: readonly Step[]): string {
  const parts = steps.flatMap(({ name, statements }) => [
    `-- ${name}`,
    ...statements.map((statement) => `${statement};`),
  ])
  return ['begin;', `${textOf(LOCK)};`, ...parts, 'commit;\n'].join('\n\n')
}

async function timeouts<DB>(own: Kysely<DB>): Promise<{ lock: string; statement: string }> {
  const { rows } = await sql<{ lock: string; statement: string }>`select
    current_setting('lock_timeout') as lock,
    current_setting('statement_timeout') as statement`.execute(own)
  return rows[0] ?? { lock: '0', statement: '0' }
}

/** For the transaction alone. */
async function setTimeouts<DB>(own: Kysely<DB>, lock: string, statement: string): Promise<void> {
  await sql`select
    set_config('lock_timeout', ${lock}, true),
    set_config('statement_timeout', ${statement}, true)`.execute(own)
}

async function runStep<DB>(own: Kysely<DB>, { name, statements }: Step): Promise<void> {
  try {
    for (const statement of statements) await own.executeQuery(CompiledQuery.raw(statement))
  } catch (error) {
    throw failed(`migration ${name}`, error)
  }
}

function failed(what: string, cause: unknown): OncelyError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new OncelyError('migration_failed', `${what} failed: ${reason}`, { cause })
}
