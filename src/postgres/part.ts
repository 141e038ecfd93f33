import type { CompiledQuery, QueryResult } from 'kysely'

import type { Answer, NodePostgres, Writer } from './node-postgres.ts'
import { NamedQuery, nameOf } from './statement.ts'

/** What begins, ends or divides a transaction. */
const command = /^(?:start transaction|begin|savepoint|rollback|release|commit)\b/

const commandNames = new Map<string, string>()

/** There are a few of them, always the same. */
function commandName(text: string): string {
  const known = commandNames.get(text)
  if (known !== undefined) return known
  const name = nameOf(text)
  commandNames.set(text, name)
  return name
}

/** One of the statements that travel together. */
export class Part {
  readonly text: string
  /** None where it is not prepared. */
  readonly name: string | undefined
  readonly resolve: (result: QueryResult<never>) => void
  readonly reject: (error: unknown) => void
  /** Of a command there is nothing to be told. */
  readonly #isCommand: boolean
  readonly #values: readonly unknown[]
  readonly #driver: NodePostgres
  #answer: Answer | undefined
  #unreadable: { readonly error: unknown } | undefined

  constructor(
    statement: CompiledQuery,
    prepares: boolean,
    driver: NodePostgres,
    resolve: Part['resolve'],
    reject: Part['reject'],
  ) {
    this.text = statement.sql
    this.#isCommand = command.test(statement.sql)
    // Whatever the server knows, it can be told to roll back.
    if (!prepares || statement.sql === 'rollback') this.name = undefined
    else if (this.#isCommand) this.name = commandName(statement.sql)
    else if (statement instanceof NamedQuery) this.name = statement.prepared
    this.#values = statement.parameters
    this.#driver = driver
    this.resolve = resolve
    this.reject = reject
  }

  /** @param known - the columns of its rows, where they need not be asked for. */
  write(writer: Writer, isParsed: boolean, known: unknown): void {
    const { text, name } = this
    if (!isParsed) writer.parse({ text, name })
    const { valueMapper } = this.#driver
    writer.bind({ statement: name, values: this.#values, valueMapper })
    if (known) this.answer.addFields(known)
    else if (!this.#isCommand) writer.describe({ type: 'P' })
    writer.execute({ portal: '' })
  }

  get answer(): Answer {
    return (this.#answer ??= this.#driver.answer())
  }

  /** What reads a type is the host's. Where it throws, the client could not go on to the next message. */
  addRow(fields: unknown): void {
    try {
      this.answer.addRow(this.answer.parseRow(fields))
    } catch (error) {
      this.#unreadable ??= { error }
    }
  }

  /** The client is at the end of it. Where nothing says that it has been executed, it may not have been. */
  end(): void {
    if (this.#unreadable) this.reject(this.#unreadable.error)
    else if (this.answer.command === null) this.reject(new Error('a statement was not answered'))
    else this.resolve(resultOf(this.answer))
  }
}

/** As Kysely has it. */
function resultOf({ command, rowCount, rows }: Answer): QueryResult<never> {
  switch (command) {
    case 'COMMIT':
    case 'ROLLBACK':
      return { rows: [{ command } as never] }
    case 'INSERT':
    case 'UPDATE':
    case 'DELETE':
    case 'MERGE':
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as never[] }
    default:
      return { rows: rows as never[] }
  }
}
