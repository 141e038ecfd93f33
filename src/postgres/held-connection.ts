import type {
  CompiledQuery,
  ConnectionProvider,
  DatabaseConnection,
  Kysely,
  QueryResult,
} from 'kysely'

import { type ConnectionControl, controlOf } from './connection-control.ts'

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
  #isUnprepared = false
  /** Asked before anything is sent: another call may find out meanwhile that nothing is to be prepared. */
  readonly #mayPrepare: boolean
  readonly #connection: DatabaseConnection

  private constructor(connection: DatabaseConnection) {
    this.#connection = connection
    this.control = controlOf(connection)
    this.#mayPrepare = this.control?.prepares ?? false
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

  get sharesTurns(): boolean {
    return this.control?.sharesTurns ?? false
  }

  /** To be called before anything of the host's runs. */
  hostRuns(): void {
    this.#hostHasRun = true
  }

  answeredBy(pid: string): void {
    this.control?.answeredBy(pid)
  }

  /**
   * Sends a statement, at once or with those that are sent in the same tick. A BEGIN in front of it that
   * fails is what it fails with.
   */
  execute<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    this.control?.gather()
    return this.#connection.executeQuery<Row>(query)
  }

  failure(error: unknown): unknown {
    // What is sent together fails together.
    this.#isUnprepared ||= this.#mayPrepare && this.control?.isUnprepared(error) === true
    if (!this.#isUnprepared || this.#hostHasRun) return error
    return new Unprepared('prepared elsewhere', { cause: error })
  }
}
