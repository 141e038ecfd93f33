import type { CompiledQuery, QueryResult } from 'kysely'

import type { NodePostgres } from './node-postgres.ts'
import { Part } from './part.ts'

/** What is used of its connection. */
interface Connection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): boolean }
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}

/**
 * Statements that node-postgres sends and has answered as one: with a single Sync behind them, so that
 * PostgreSQL executes them in their order, skips what is behind one that fails, and answers once.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Batch {
  readonly parts: Part[] = []
  /** Under this name, where it has one, the client notes this text as parsed. */
  name: string | undefined
  text = ''
  /** Set by a client that has a `query_timeout`. */
  callback: ((error: Error | null) => void) | undefined
  /** Not written before `flush`, so that more can be added to what its client is waiting for already. */
  lingers = false
  readonly #driver: NodePostgres
  #at = 0
  #columns: Columns | undefined
  #connection: Connection | undefined
  #hasFailed = false

  /** Where it pipelines, a client takes nothing but queries of its own class. */
  constructor(driver: NodePostgres) {
    this.#driver = driver
    inherit(driver)
  }

  /** @returns what it is answered with; where it was skipped, it fails with what made it so. */
  add<Row>(statement: CompiledQuery, prepares: boolean): Promise<QueryResult<Row>> {
    return new Promise((resolve, reject) => {
      this.parts.push(new Part(statement, prepares, this.#driver, resolve, reject))
    })
  }

  submit(connection: Connection): Error | null {
    this.#connection = connection
    if (!this.lingers) this.#write(connection)
    return null
  }

  /** Whether it takes more statements although its client has it already. */
  get isOpen(): boolean {
    return this.lingers && !this.#hasFailed
  }

  flush(): void {
    if (!this.lingers) return
    this.lingers = false
    if (this.#connection && !this.#hasFailed) this.#write(this.#connection)
  }

  #write(connection: Connection): void {
    const { parts } = this
    const columns = columnsOn(connection)
    this.#columns = columns
    const bytes = this.#driver.messages(
      parts,
      (part, writer) => {
        const parsed = isParsed(part, connection)
        part.write(writer, parsed, parsed && columns.get(part.name))
        if (part.name && !parsed) connection.submittedNamedStatements[part.name] = part.text
      },
      (place, error) => {
        // Such as a value that has no text. What is behind it must not be executed without it.
        for (const unsent of parts.splice(place)) unsent.reject(error)
      },
    )
    if (connection.stream.writable) connection.stream.write(bytes)
    this.#next(0)
  }

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.parts[this.#at]?.answer.addFields(fields)
    if (this.name) this.#columns?.set(this.name, fields)
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    this.parts[this.#at]?.addRow(fields)
  }

  handleCommandComplete(message: unknown): void {
    this.parts[this.#at]?.answer.addCommandComplete(message)
    this.#next(this.#at + 1)
  }

  handleReadyForQuery(): void {
    for (const part of this.parts) part.end()
    this.callback?.(null)
  }

  handleError(error: Error, { submittedNamedStatements }: Connection): void {
    this.#hasFailed = true
    // Outside of a transaction the last one can fail behind its own end.
    const failed = Math.min(this.#at, this.parts.length - 1)
    for (const [place, part] of this.parts.entries()) {
      if (place < failed) part.end()
      else part.reject(error)
      // What was skipped has been parsed under no name.
      if (place > failed && part.name) Reflect.deleteProperty(submittedNamedStatements, part.name)
    }
    this.callback?.(error)
  }

  /** Where its client did not take it. */
  fail(error: unknown): void {
    this.#hasFailed = true
    for (const part of this.parts) part.reject(error)
  }

  #next(place: number): void {
    const part = this.parts[place]
    this.#at = place
    this.name = part?.name
    this.text = part?.text ?? ''
  }
}

let inherited: NodePostgres | undefined

/** A batch is to pass for one of them, and needs nothing of what their constructor sets. */
function inherit(driver: NodePostgres): void {
  if (inherited === driver) return
  inherited = driver
  Object.setPrototypeOf(Batch.prototype, driver.queries)
}

/** Of the rows of a prepared statement. PostgreSQL refuses it once they would be others. */
type Columns = Map<string | undefined, unknown>

const columnsOf = new WeakMap<Connection, Columns>()

function columnsOn(connection: Connection): Columns {
  const known = columnsOf.get(connection)
  if (known) return known
  const columns: Columns = new Map()
  columnsOf.set(connection, columns)
  return columns
}

function isParsed({ name }: Part, connection: Connection): boolean {
  if (!name) return false
  return name in connection.parsedStatements || name in connection.submittedNamedStatements
}
