import type { Dialect } from 'kysely'

import { checkNames } from '../checks.ts'
import { OncelyError } from '../errors.ts'
import { OncelyDriver } from './oncely-driver.ts'

/** Options of `oncelyDialect`. */
export interface OncelyDialectOptions {
  /**
   * Whether node-postgres prepares our statements under a name on each connection, so that PostgreSQL
   * parses and plans them once and not each time. The host's own statements stay as they are.
   *
   * Behind a pooler that gives each transaction another server process (PgBouncer's transaction mode)
   * that cannot work. It is found out by the first call that meets another process, which is made
   * again without names before its function has run; from then on this dialect prepares nothing. `false`
   * spares the finding out. A call that has joined a transaction prepares nothing.
   *
   * @defaultValue `true`
   */
  readonly prepare?: boolean
}

const wrapped = new WeakSet<Dialect>()

/**
 * Wraps the PostgreSQL dialect of the host's Kysely, whichever it is, for manners that a dialect
 * alone has not. What is promised about data holds without it.
 *
 * - The failure of a ROLLBACK never takes the place of the error that led to it. The rollback
 *   counts as done, since its connection is destroyed and the server rolls back what it was left with.
 * - What COMMIT itself failed with is known, so `withIdempotency` throws an error of PostgreSQL's as
 *   the definite failure it is, without having to look the commit up.
 * - A connection whose BEGIN failed or timed out, whose ROLLBACK failed, or whose COMMIT was given
 *   up after `resolveTimeoutMs` is destroyed, and not given back to the pool as if it were well.
 *   A stalled COMMIT so occupies no place in the pool.
 * - On node-postgres the statements of a call share turns, with `pipeline: true` in its pool or without:
 *   BEGIN and claim, response and COMMIT. A first execution then waits for the server as often as its
 *   function and a transaction do, and a replay once. The function's own statements are sent when
 *   everything before them is answered.
 *
 * Everything else is passed through as it is, so the host's other use of that Kysely goes on as
 * before. A driver that does not destroy a connection whose ROLLBACK failed, as Kysely's own does,
 * gets a tainted one back once it has answered a ROLLBACK.
 *
 * @param dialect - such as Kysely's `PostgresDialect`. One that is wrapped already is returned as is.
 * @throws OncelyError `invalid_options`.
 *
 * @example
 * ```ts
 * const pool = guardPool(new Pool({ connectionString }))
 * const db = new Kysely<Database>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
 * ```
 */
export function oncelyDialect(dialect: Dialect, options: OncelyDialectOptions = {}): Dialect {
  checkNames(options, ['prepare'])
  const { prepare = true } = options
  if (typeof prepare !== 'boolean') {
    throw new OncelyError('invalid_options', 'prepare must be true or false')
  }
  if (wrapped.has(dialect)) return dialect
  const outer: Dialect = {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new OncelyDriver(dialect.createDriver(), prepare),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
  wrapped.add(outer)
  return outer
}
