import { SQLSTATE, sqlState } from './sqlstate.ts'

/**
 * Whether statements of ours are prepared under a name, which spares the server to parse and plan
 * them each time. A name is known to one server process alone. Behind a pooler that gives each
 * transaction another process, a call finds out before its function has run: a name is not known
 * there, or known already, or the process is another one. From then on nothing is prepared.
 */
export class PreparedNames {
  #on: boolean
  readonly #pids = new WeakMap<object, string>()

  constructor(on: boolean) {
    this.#on = on
  }

  get on(): boolean {
    return this.#on
  }

  answeredBy(connection: object, pid: string): void {
    const before = this.#pids.get(connection)
    if (before === undefined) this.#pids.set(connection, pid)
    else if (before !== pid) this.#on = false
  }

  /** To be asked of the error of a statement that was prepared. */
  isUnprepared(error: unknown): boolean {
    const state: unknown = sqlState(error)
    const unprepared = [
      SQLSTATE.invalidStatementName,
      SQLSTATE.duplicatePreparedStatement,
      // The type of a column has changed since it was prepared.
      SQLSTATE.featureNotSupported,
    ].some((known) => known === state)
    if (unprepared) this.#on = false
    return unprepared
  }
}
