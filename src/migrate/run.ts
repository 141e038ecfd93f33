import { CompiledQuery, type Kysely } from 'kysely'

import { isOncelyError, OncelyError } from '../errors.ts'
import { requireKysely } from '../postgres/given.ts'
import { SQLSTATE, sqlState } from '../postgres/sqlstate.ts'
import { transactRepeatable } from '../postgres/transact.ts'
import { type Bookkeeping, readBookkeeping } from './bookkeeping.ts'
import { awaitLock, LOCK } from './lock.ts'
import type { Step } from './plan.ts'
import { textOf } from './statements.ts'

/** What somebody who holds no lock of ours, or another one, has created while we planned to. */
const OVERTAKEN: readonly unknown[] = [
  SQLSTATE.duplicateSchema,
  SQLSTATE.duplicateTable,
  SQLSTATE.uniqueViolation,
]

/**
 * Runs a plan in one transaction, made under the lock from what is applied at that moment. Inside
 * the caller's transaction where the caller has one, such as a migration step of the host.
 *
 * @param waitTimeoutMs - how long another migrator is waited for.
 * @returns the names of the steps that were run.
 */
export async function runPlan<DB>(
  db: Kysely<DB>,
  schema: string,
  waitTimeoutMs: number,
  plan: (state: Bookkeeping) => Promise<readonly Step[]>,
): Promise<readonly string[]> {
  requireKysely(db)
  const work = async (trx: Kysely<DB>): Promise<readonly string[]> => {
    const own = trx.withoutPlugins()
    const restore = await awaitLock(own, waitTimeoutMs)
    try {
      const steps = await plan(await readBookkeeping(own, schema))
      for (const step of steps) await runStep(own, step)
      return steps.map(({ name }) => name)
    } finally {
      // The caller may go on. Where it cannot, since the transaction has failed, this fails as well.
      if (db.isTransaction) await restore().catch(() => undefined)
    }
  }
  const alone = () =>
    transactRepeatable(db, schema, async (trx) => {
      const outcome = await work(trx)
      return { end: outcome.length > 0 ? 'commit' : 'rollback', outcome }
    })
  try {
    if (db.isTransaction) return await work(db)
    try {
      return await alone()
    } catch (error) {
      // Kysely's migrator creates schema and bookkeeping before it takes the lock.
      if (!OVERTAKEN.includes(sqlState(error))) throw error
      return await alone()
    }
  } catch (error) {
    if (isOncelyError(error) && error.code !== 'access_denied') throw error
    throw failed('migration', isOncelyError(error) ? error.cause : error)
  }
}

/** What `runPlan` would run, as a script for psql. */
export function scriptOf(steps: readonly Step[]): string {
  const parts = steps.flatMap(({ name, statements }) => [
    `-- ${name}`,
    ...statements.map((statement) => `${statement};`),
  ])
  const how = '-- for psql -v ON_ERROR_STOP=1'
  return [how, 'begin;', `${textOf(LOCK)};`, ...parts, 'commit;\n'].join('\n\n')
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
