import type { AbortableOperationOptions, CompiledQuery, DatabaseConnection } from 'kysely'

import { OncelyError } from '../errors.ts'
import { type TransactionControl, transactionControl } from './transaction-control.ts'

/** Who watches over what runs on a connection. */
export interface Watcher {
  /** Is told what a statement that has succeeded does to the transaction. */
  controlled(control: TransactionControl): void
  /** Passes a stream on. */
  pass<T>(rows: AsyncIterableIterator<T>): AsyncIterableIterator<T>
}

/** The connection of a transaction that is lent: to end it is not the borrower's. */
export class WatchedConnection implements DatabaseConnection {
  /** What it stands for. */
  readonly connection: DatabaseConnection
  readonly #watcher: Watcher
  // By these an AbortSignal cancels a query, where the driver can.
  readonly cancelQuery?: NonNullable<DatabaseConnection['cancelQuery']>
  readonly collectSessionInfo?: NonNullable<DatabaseConnection['collectSessionInfo']>
  readonly killSession?: NonNullable<DatabaseConnection['killSession']>

  constructor(connection: DatabaseConnection, watcher: Watcher) {
    this.connection = connection
    this.#watcher = watcher
    if (connection.cancelQuery) this.cancelQuery = connection.cancelQuery.bind(connection)
    if (connection.collectSessionInfo) {
      this.collectSessionInfo = connection.collectSessionInfo.bind(connection)
    }
    if (connection.killSession) this.killSession = connection.killSession.bind(connection)
  }

  async executeQuery<Row>(query: CompiledQuery, options?: AbortableOperationOptions) {
    const control = transactionControl(query.sql)
    if (control === 'ends') throw notYours()
    const result = await this.connection.executeQuery<Row>(query, options)
    if (control !== 'none') this.#watcher.controlled(control)
    return result
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number, options?: AbortableOperationOptions) {
    return this.#watcher.pass(this.connection.streamQuery<Row>(query, chunkSize, options))
  }
}

function notYours(): OncelyError {
  return new OncelyError(
    'transaction_control',
    'a business function must not end its transaction: throw to roll back, return to commit',
  )
}
