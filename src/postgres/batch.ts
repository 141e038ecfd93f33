import type { CompiledQuery, QueryResult } from 'kysely'
import pg from 'pg'

import { Part, type Writer } from './part.ts'

/** What node-postgres asks of whatever takes the place of a query. */
interface Query {
  /** Under this name, where it has one, the client notes this text as parsed. */
  name: string | undefined
  text: string
  /** Set by a client that has a `query_timeout`. */
  callback: ((error: Error | null) => void) | undefined
  emit(event: string): boolean
  submit(connection: Connection): Error | null
  handleRowDescription(message: { readonly fields: unknown }): void
  handleDataRow(message: { readonly fields: unknown }): void
  handleCommandComplete(message: unknown): void
  handleReadyForQuery(): void
  handleError(error: Error, connection: Connection): void
}

/** What is used of its connection. */
interface Connection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): boolean }
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}

const chunks: Buffer[] = []

/** Keeps what it is to write, so that it is written at once. */
const writer = new pg.Connection({
  stream: { writable: true, write: (bytes: Buffer) => chunks.push(bytes) } as never,
}) as unknown as Writer & { sync(): void }

/**
 * A query of node-postgres, which takes no others where it pipelines. It is not made as one: that costs
 * more than all the rest of a batch.
 */
const Base = function () {
  // Nothing is needed of what its constructor sets.
} as unknown as new () => Query
Base.prototype = pg.Query.prototype

/**
 * Statements that node-postgres sends and has answered as one: with a single Sync behind them, so that
 * PostgreSQL executes them in their order, skips what is behind one that fails, and answers once.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Batch extends Base {
  readonly parts: Part[] = []
  #at = 0
  #columns: Columns | undefined

  /** @returns what it is answered with; where it was skipped, it fails with what made it so. */
  add<Row>(statement: CompiledQuery, prepares: boolean): Promise<QueryResult<Row>> {
    return new Promise((resolve, reject) => {
      this.parts.push(new Part(statement, prepares, resolve, reject))
    })
  }

  override submit(connection: Connection): Error | null {
    const { parts } = this
    const columns = columnsOn(connection)
    this.#columns = columns
    for (const [place, part] of parts.entries()) {
      const { length } = chunks
      const parsed = isParsed(part, connection)
      try {
        part.write(writer, parsed, parsed && columns.get(part.name))
      } catch (error) {
        // Such as a value that has no text. What is behind it must not be executed without it.
        chunks.length = length
        for (const unsent of parts.splice(place)) unsent.reject(error)
        break
      }
      if (part.name && !parsed) connection.submittedNamedStatements[part.name] = part.text
    }
    writer.sync()
    const bytes = Buffer.concat(chunks.splice(0))
    if (connection.stream.writable) connection.stream.write(bytes)
    this.#next(0)
    return null
  }

  override handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.parts[this.#at]?.answer.addFields(fields)
    if (this.name) this.#columns?.set(this.name, fields)
  }

  override handleDataRow({ fields }: { readonly fields: unknown }): void {
    this.parts[this.#at]?.addRow(fields)
  }

  override handleCommandComplete(message: unknown): void {
    this.parts[this.#at]?.answer.addCommandComplete(message)
    this.#next(this.#at + 1)
  }

  override handleReadyForQuery(): void {
    for (const part of this.parts) part.end()
    this.callback?.(null)
  }

  override handleError(error: Error, { submittedNamedStatements }: Connection): void {
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

  #next(place: number): void {
    const part = this.parts[place]
    this.#at = place
    this.name = part?.name
    this.text = part?.text ?? ''
  }
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
