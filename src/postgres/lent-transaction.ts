import type { ConnectionProvider, DatabaseConnection, Transaction } from 'kysely'

import { type Bound, UNBOUNDED, untilGivenUp } from './bound.ts'
import { GuardedExecutor } from './guarded-executor.ts'
import { OpenStreams, transactionClosed } from './open-streams.ts'
import type { TransactionControl } from './transaction-control.ts'
import { type Watcher, WatchedConnection } from './watched-connection.ts'
import { withExecutor } from './with-executor.ts'

/**
 * The transaction as lent to a business function. Until it is taken back it remembers the first
 * error and what is still under way, so that no statement of the function can reach the connection
 * behind the response or the COMMIT, and no swallowed error is lost.
 */
export class LentTransaction<DB> implements ConnectionProvider, Watcher {
  readonly #tx: Transaction<DB>
  readonly #inner: ConnectionProvider
  #firstError: { readonly error: unknown } | undefined
  #undoable = true
  #closed = false
  #signal: AbortSignal | undefined
  readonly #streams = new OpenStreams()
  #watched: WatchedConnection | undefined
  /** Those that have the connection or wait for it. */
  #users = 0
  /** Of the one that has it. */
  #turn: Promise<unknown> | undefined
  #endTurn: (reason: unknown) => void = () => undefined

  constructor(trx: Transaction<DB>) {
    const executor = trx.getExecutor()
    this.#inner = executor
    this.#tx = withExecutor(new GuardedExecutor(executor.withConnectionProvider(this), this))
  }

  /**
   * The first error of a statement, unless the function has undone it by a savepoint of its own. It
   * may be the driver's alone, such as its time-out: the statement goes on, and whoever took it for
   * failed would be wrong about what is committed.
   */
  get firstError(): { readonly error: unknown } | undefined {
    return this.#firstError
  }

  /**
   * Runs a function with `tx` and takes `tx` back, whatever comes of it.
   *
   * @param bound - given up, `tx` is closed at once, though the function goes on by itself.
   */
  async use<Value>(
    run: (tx: Transaction<DB>) => Promise<Value> | Value,
    bound: Bound = UNBOUNDED,
  ): Promise<Value> {
    this.#signal = bound.signal
    try {
      const running = async () => run(this.#tx)
      return await untilGivenUp(bound, running())
    } finally {
      await this.#takeBack()
    }
  }

  /** Waits for the statements that were left behind, ends streams left open, and closes `tx`. */
  async #takeBack(): Promise<void> {
    this.#streams.end()
    while (this.#users > 0) {
      await this.#turn?.catch(ignore)
      // What was left behind may go on to its next statement, once it is told of this one.
      await new Promise(setImmediate)
    }
    this.#closed = true
  }

  admit(): void {
    if (this.#closed || this.#signal?.aborted) throw transactionClosed()
  }

  failed(error: unknown): void {
    this.#firstError ??= { error }
  }

  async provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.#users += 1
    try {
      while (this.#turn) await this.#turn.catch(ignore)
      const turn = this.#inner.provideConnection((connection) =>
        this.#giveTurn(connection, consumer),
      )
      this.#turn = turn
      return await turn
    } finally {
      // Before anybody who waits for it goes on: this was the first to wait.
      this.#turn = undefined
      this.#users -= 1
    }
  }

  /** Kysely holds a connection for as long as a stream is read, which may be for ever. */
  #giveTurn<T>(
    connection: DatabaseConnection,
    consumer: (connection: DatabaseConnection) => Promise<T>,
  ): Promise<T> {
    if (this.#watched?.connection !== connection) {
      this.#watched = new WatchedConnection(connection, this)
    }
    const watched = this.#watched
    return new Promise((resolve, reject) => {
      this.#endTurn = reject
      consumer(watched).then(resolve, reject)
    })
  }

  pass<T>(rows: AsyncIterableIterator<T>): AsyncIterableIterator<T> {
    const endTurn = this.#endTurn
    return this.#streams.pass(rows, () => {
      endTurn(transactionClosed())
    })
  }

  /**
   * Rolling back to a savepoint undoes a failed statement, if the savepoint is the older of the two.
   * PostgreSQL sets none behind an error of its own, but does behind one of the driver alone.
   */
  controlled(control: TransactionControl): void {
    if (control === 'sets a savepoint' && this.#firstError) this.#undoable = false
    if (control === 'rolls back to a savepoint' && this.#undoable) this.#firstError = undefined
  }
}

function ignore(): void {
  // Whose turn it was has been told.
}

/**
 * Lends a transaction to one function of the host.
 *
 * @throws what the function throws, unchanged; else the first error of a statement of its that failed
 * while it went on.
 */
export async function lend<DB, Value>(
  trx: Transaction<DB>,
  run: (tx: Transaction<DB>) => Promise<Value> | Value,
  bound: Bound = UNBOUNDED,
): Promise<Value> {
  const lent = new LentTransaction(trx)
  const value = await lent.use(run, bound)
  if (lent.firstError) throw lent.firstError.error
  return value
}
