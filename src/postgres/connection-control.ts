import type { DatabaseConnection, Kysely } from 'kysely'

/**
 * What `oncelyDialect` knows of a connection while somebody has it, and can do with it, which a plain
 * dialect cannot.
 */
export interface ConnectionControl {
  /** Whether it cannot be used again: a BEGIN or a ROLLBACK failed on it, or it was abandoned. */
  readonly tainted: boolean
  /** Whether this error was the server's answer to COMMIT, and the ROLLBACK behind it was answered. */
  isAnswerToCommit(error: unknown): boolean
  /**
   * Destroys the connection as soon as its holder lets it go, and makes the COMMIT or ROLLBACK that is
   * under way on it fail with that reason, so that its holder does.
   */
  abandon(reason: Error): void
}

// By the connection, which is the one object that the driver and a transaction on it both see.
const controls = new WeakMap<DatabaseConnection, ConnectionControl>()

/** To be called whenever a connection is handed out. */
export function setControl(connection: DatabaseConnection, control: ConnectionControl): void {
  controls.set(connection, control)
}

/** @returns undefined on a plain dialect. */
export async function controlOf<DB>(
  transaction: Kysely<DB>,
): Promise<ConnectionControl | undefined> {
  return transaction
    .getExecutor()
    .provideConnection((connection) => Promise.resolve(controls.get(connection)))
}
