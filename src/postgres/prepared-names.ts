import type { CompiledQuery, DatabaseConnection } from 'kysely'

import { SQLSTATE, sqlState } from './sqlstate.ts'
import { NamedQuery } from './statement.ts'

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

  /**
   * Has a connection of node-postgres prepare what has a name. Kysely passes the text of a statement on
   * as it is, and node-postgres takes an object of text and name for it. To be called before Kysely
   * puts its logger around the connection: a logger is told of texts.
   */
  prepareOn(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = (query, options) => execute(this.#prepared(query), options)
  }

  #prepared(query: CompiledQuery): CompiledQuery {
    if (!this.#on || !(query instanceof NamedQuery)) return query
    const { query: node, queryId, parameters, prepared } = query
    return { query: node, queryId, parameters, sql: prepared as unknown as string }
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
