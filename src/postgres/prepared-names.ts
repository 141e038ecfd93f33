import type { CompiledQuery } from 'kysely'

import { SQLSTATE, sqlState } from './sqlstate.ts'
import type { NamedQuery } from './statement.ts'

/**
 * A statement for node-postgres to prepare under a name. Kysely passes the text of a statement on as it
 * is, and node-postgres takes an object with these two for it. To a logger it is a text like any other:
 * it has the methods of one. It is none, since node-postgres copies each property of it.
 */
class PreparedText {
  readonly text: string
  readonly name: string

  constructor(text: string, name: string) {
    this.text = text
    this.name = name
  }

  get length(): number {
    return this.text.length
  }

  toString(): string {
    return this.text
  }

  valueOf(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

Object.setPrototypeOf(PreparedText.prototype, String.prototype)

/**
 * Whether statements of ours are prepared under a name, which spares the server to parse and plan
 * them each time. A name is known to one server process alone. Behind a pooler that gives each
 * transaction another process, the claim, as the first statement, finds out: its name is not known
 * there, or known already, or the process is another one. From then on nothing is prepared.
 */
export class PreparedNames {
  #on: boolean
  readonly #pids = new WeakMap<object, string>()

  constructor(on: boolean) {
    this.#on = on
  }

  prepared<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
    if (!this.#on || !isNamed(query)) return query
    const { sql, name } = query
    // Kysely's type knows texts alone.
    return { ...query, sql: new PreparedText(sql, name) as unknown as string }
  }

  answeredBy(connection: object, pid: string): void {
    const before = this.#pids.get(connection)
    if (before === undefined) this.#pids.set(connection, pid)
    else if (before !== pid) this.#on = false
  }

  /** To be asked of the error of a statement that was prepared. */
  isUnprepared(error: unknown): boolean {
    const state: unknown = sqlState(error)
    const unprepared =
      state === SQLSTATE.invalidStatementName || state === SQLSTATE.duplicatePreparedStatement
    if (unprepared) this.#on = false
    return unprepared
  }
}

function isNamed<Row>(query: CompiledQuery<Row>): query is NamedQuery<Row> {
  return 'name' in query
}
