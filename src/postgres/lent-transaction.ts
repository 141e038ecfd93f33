import type { ConnectionProvider, DatabaseConnection, QueryExecutor, Transaction } from 'kysely'

import { OncelyError } from '../errors.ts'
import { type Bound, UNBOUNDED, untilGivenUp } from './bound.ts'
import { GuardedExecutor } from './guarded-executor.ts'
import { setLevel } from './level.ts'
import { OpenStreams, transactionClosed } from './open-streams.ts'
import { type TransactionControl, transactionControl } from './transaction-control.ts'
import { withExecutor } from './with-executor.ts'

/**
 * The transaction as lent to a business function. Until it is taken back it remembers the first
 * error and what is still under way, so that no statement of the function can reach the connection
 * behind the response or the COMMIT, and no swallowed error is lost.
 */
export class LentTransaction<DB> {
  readonly #tx: Transaction<DB>
  #firstError: { readonly error: unknown } | undefined
  #undoable = true
  #closed = false
  #signal: AbortSignal | undefined
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #streams = new OpenStreams()

  constructor(trx: Transaction<DB>) {
    const executor: QueryExecutor = trx.getExecutor()
    const watched = executor.withConnectionProvider(this.#provider(executor))
    this.#tx = withExecutor(
      new GuardedExecutor(watched, {
        admit: () => {
          if (this.#closed || this.#signal?.aborted) throw transactionClosed()
        },
        failed: (error) => {
          this.#firstError ??= { error }
        },
      }),
    )
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
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay)
      // What was left behind may go on to its next statement, once it is told of this one.
      await new Promise(setImmediate)
    }
    this.#closed = true
  }

  #provider(inner: ConnectionProvider): ConnectionProvider {
    return {
      provideConnection: async (consumer, options) => {
        // Kysely holds a connection for as long as a stream is read, which may be for ever.
        const run = inner.provideConnection(
          (connection) =>
            new Promise((resolve, reject: (reason: unknown) => void) => {
              const abandon = () => {
                reject(transactionClosed())
              }
              consumer(this.#watched(connection, abandon)).then(resolve, reject)
            }) as ReturnType<typeof consumer>,
          options,
        )
        this.#underWay.add(run)
        try {
          return await run
        } finally {
          this.#underWay.delete(run)
        }
      },
    }
  }

  /**
   * Rolling back to a savepoint undoes a failed statement, if the savepoint is the older of the two.
   * PostgreSQL sets none behind an error of its own, but does behind one of the driver alone.
   */
  #noteSavepoint(control: TransactionControl): void {
    if (control === 'sets a savepoint' && this.#firstError) this.#undoable = false
    if (control === 'rolls back to a savepoint' && this.#undoable) this.#firstError = undefined
  }

  #watched(connection: DatabaseConnection, abandon: () => void): DatabaseConnection {
    const watched: DatabaseConnection = {
      executeQuery: async (query, options) => {
        const control = transactionControl(query.sql)
        if (control === 'ends') throw notYours()
        const result = await connection.executeQuery<never>(query, options)
        this.#noteSavepoint(control)
        return result
      },
      streamQuery: (query, chunkSize, options) =>
        this.#streams.pass(connection.streamQuery(query, chunkSize, options), abandon),
      // By these an AbortSignal cancels a query, where the driver can.
      ...(connection.cancelQuery && { cancelQuery: connection.cancelQuery.bind(connection) }),
      ...(connection.collectSessionInfo && {
        collectSessionInfo: connection.collectSessionInfo.bind(connection),
      }),
      ...(connection.killSession && { killSession: connection.killSession.bind(connection) }),
    }
    setLevel(watched, this)
    return watched
  }
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

function notYours(): OncelyError {
  return new OncelyError(
    'transaction_control',
    'a business function must not end its transaction: throw to roll back, return to commit',
  )
}
