import type { CompiledQuery, DatabaseConnection } from 'kysely'

/**
 * What `oncelyDialect` knows of a connection while somebody has it, and can do with it, which a plain
 * dialect cannot.
 */
export interface ConnectionControl {
  /** Whether it cannot be used again: a BEGIN or a ROLLBACK failed on it, or it was abandoned. */
  readonly tainted: boolean
  /** Whether a statement may be sent before the one in front of it is answered. */
  readonly sharesTurns: boolean
  /** What is sent until the present tick is over travels together. */
  gather(): void
  /** A BEGIN that was not waited for: over when it is answered, whatever the answer is. */
  readonly begun: Promise<void> | undefined
  /** What the last BEGIN failed with. */
  readonly notBegun: { readonly error: unknown } | undefined
  /** Whether this error says for certain that nothing was committed. */
  isRefusalOfCommit(error: unknown): boolean
  /** The next BEGIN is not waited for, where statements share turns. What is behind it fails with it. */
  beginAhead(): void
  /**
   * The next COMMIT is sent behind these without waiting for them, where statements share turns.
   *
   * @param failed - what a failure of one of them is told as.
   */
  commitBehind(queries: readonly CompiledQuery[], failed: (error: unknown) => unknown): void
  /**
   * The next ROLLBACK is not waited for, where the client sends one statement after the other: it is
   * written together with what whoever has the connection next sends.
   */
  rollBackBehind(): void
  readonly rollsBackBehind: boolean
  /** Whether statements with a name are prepared under it. */
  readonly prepares: boolean
  /** To be told which server process has answered: it has the statements that were prepared on it. */
  answeredBy(pid: string): void
  /** To be told when a statement failed that was prepared. @returns whether that was what failed. */
  isUnprepared(error: unknown): boolean
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
export function controlOf(connection: DatabaseConnection): ConnectionControl | undefined {
  return controls.get(connection)
}
