/** https://www.postgresql.org/docs/current/errcodes-appendix.html, the ones decided by here. */
export const SQLSTATE = {
  undefinedColumn: '42703',
  undefinedTable: '42P01',
  undefinedFunction: '42883',
  invalidSchemaName: '3F000',
  insufficientPrivilege: '42501',
  duplicateSchema: '42P06',
  duplicateTable: '42P07',
  uniqueViolation: '23505',
  invalidParameterValue: '22023',
  featureNotSupported: '0A000',
  invalidStatementName: '26000',
  duplicatePreparedStatement: '42P05',
  divisionByZero: '22012',
  checkViolation: '23514',
  invalidSavepoint: '3B001',
  noActiveTransaction: '25P01',
  inFailedTransaction: '25P02',
  lockNotAvailable: '55P03',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
} as const

/** Errors are wrapped a few deep; the bound is for a cause that is its own. */
const MAX_CAUSES = 8

/**
 * The SQLSTATE of an error that PostgreSQL sent, wherever in the chain of causes it is. A code
 * alone does not make one: the system's EPIPE has five capitals as well.
 */
export function sqlState(error: unknown): string | undefined {
  return serverError(error)?.code
}

/** Whether the statement violated a constraint: a business answer (SQLSTATE class 23). */
export function isIntegrityViolation(error: unknown): boolean {
  return sqlState(error)?.startsWith('23') ?? false
}

/** Whether the statement violated that unique constraint, by the names that PostgreSQL sent. */
export function violates(
  error: unknown,
  { constraint, table }: { readonly constraint: string; readonly table?: string },
): boolean {
  const found = serverError(error)
  if (found?.code !== SQLSTATE.uniqueViolation || found.constraint !== constraint) return false
  return table === undefined || found.table === table
}

/**
 * Whether an error behind COMMIT, on a plain dialect, says for certain that nothing was committed: PostgreSQL sent it
 * with severity ERROR, for what a deferred check, a conflict of transactions or a trigger's own
 * exception refuses (SQLSTATE classes 23, 40 and P0). Anything else leaves the fate open: a lost
 * socket, a time-out, FATAL, a pooler's 08P01; and what may not be the answer to COMMIT at all, but
 * to the ROLLBACK that Kysely sends behind it, such as a cancelled one, or an error of a logger.
 */
export function isDefiniteRefusal(error: unknown): boolean {
  const found = serverError(error)
  return found?.severity === 'ERROR' && /^(23|40|P0)/.test(found.code)
}

/**
 * Whether an error that is known to be the answer to COMMIT says for certain that nothing was
 * committed: PostgreSQL sent it with severity ERROR. Not so for the classes 08 and 57P0x, with which
 * a pooler speaks for a server that it has lost.
 */
export function isRefusalOfCommit(answer: unknown): boolean {
  const found = serverError(answer)
  return found?.severity === 'ERROR' && !/^(08|57P0)/.test(found.code)
}

/** Whether the statement violated that check constraint. */
export function violatesCheck(error: unknown, constraint: string): boolean {
  const found = serverError(error)
  return found?.code === SQLSTATE.checkViolation && found.constraint === constraint
}

interface ServerError {
  readonly code: string
  readonly severity: string
  readonly constraint: unknown
  readonly table: unknown
}

function serverError(error: unknown): ServerError | undefined {
  let current = error
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (typeof current !== 'object' || current === null) return undefined
    const { code, severity, ...names } = current as Record<string, unknown>
    if (typeof severity === 'string' && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
      // node-postgres and PGlite name the fields of the protocol so, and postgres.js otherwise.
      const { constraint = names['constraint_name'], table = names['table_name'] } = names
      return { code, severity, constraint, table }
    }
    current = (current as { cause?: unknown }).cause
  }
  return undefined
}
