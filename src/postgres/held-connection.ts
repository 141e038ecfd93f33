import type {
  CompiledQuery,
  ConnectionProvider,
  DatabaseConnection,
  Kysely,
  QueryResult,
} from 'kysely'

import { type ConnectionControl, controlOf } from './connection-control.ts'
import { NamedQuery } from './statement.ts'

/**
 * Thrown for a statement whose name the server process does not know, or knows already, before anything
 * of the host's has run.
 */
export class Unprepared extends Error {
  override readonly name = 'Unprepared'
}

/**
 * A connection that is held for a call, with its transaction or for a single statement. It is given to
 * whoever asks, at once, since there is nobody else.
 */
export class HeldConnection implements ConnectionProvider {
  readonly control: ConnectionControl | undefined
  #hostHasRun = false
  readonly #connection: DatabaseConnection

  private constructor(connection: DatabaseConnection) {
    this.#connection = connection
    this.control = controlOf(connection)
  }

  /** @param transaction - or one connection of a Kysely's. */
  static async of<DB>(transaction: Kysely<DB>): Promise<HeldConnection> {
    return transaction
      .getExecutor()
      .provideConnection((connection) => Promise.resolve(new HeldConnection(connection)))
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this.#connection)
  }

  get pipelines(): boolean {
    return this.control?.pipelines ?? false
  }

  /** To be called before anything of the host's runs. */
  hostRuns(): void {
    this.#hostHasRun = true
  }

  answeredBy(pid: string): void {
    this.control?.answeredBy(pid)
  }

  /** Sends a statement at once. A BEGIN in front of it that fails is what it fails with. */
  async execute<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    const { control } = this
    if (!control) return this.#connection.executeQuery(query)
    const isPrepared = query instanceof NamedQuery && control.prepares
    control.gather()
    const answered = this.#connection.executeQuery<Row>(query)
    const { begun } = control
    if (begun) {
      answered.catch(ignore)
      await begun
    }
    try {
      return await answered
    } catch (error) {
      const isUnprepared = isPrepared && control.isUnprepared(error)
      if (isUnprepared && !this.#hostHasRun)
        throw new Unprepared('prepared elsewhere', { cause: error })
      throw error
    }
  }
}

function ignore(): void {
  // Waited for below, where BEGIN has not failed.
}
