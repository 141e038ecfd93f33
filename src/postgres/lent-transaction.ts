import {
  type ConnectionProvider,
  type DatabaseConnection,
  type QueryExecutor,
  sql,
  type Transaction,
} from 'kysely'

import { OncelyError } from '../errors.ts'
import type { OwnTables } from './enter.ts'
import { GuardedExecutor } from './guarded-executor.ts'
import { sqlState } from './sqlstate.ts'
import { transactionControl } from './transaction-control.ts'
import { withExecutor } from './with-executor.ts'

/**
 * The transaction as lent to a business function. Until it is taken back it remembers the first
 * error and what is still under way, so that no statement of the function can reach the connection
 * behind the response or the COMMIT, and no swallowed error is lost.
 */
export class LentTransaction<DB> {
  readonly #tx: Transaction<DB>
  #firstError: { readonly error: unknown } | undefined
  #state: 'lent' | 'settling' | 'closed' = 'lent'
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #openStreams = new Set<() => void>()

  constructor(trx: Transaction<DB>) {
    const executor: QueryExecutor = trx.getExecutor()
    const watched = executor.withConnectionProvider(this.#provider(executor))
    this.#tx = withExecutor(
      new GuardedExecutor(watched, () => {
        if (this.#state === 'closed') throw closed()
      }),
    )
  }

  /**
   * The first error of a statement, unless the function has healed it by a savepoint of its own. It
   * may be the driver's alone, such as its time-out, and the transaction none the worse for it.
   */
  get firstError(): { readonly error: unknown } | undefined {
    return this.#firstError
  }

  /** Runs a function with `tx` and takes `tx` back, whatever comes of it. */
  async use<Value>(run: (tx: Transaction<DB>) => Promise<Value> | Value): Promise<Value> {
    try {
      return await run(this.#tx)
    } finally {
      await this.#takeBack()
    }
  }

  /** Waits for the statements that were left behind, ends streams left open, and closes `tx`. */
  async #takeBack(): Promise<void> {
    this.#state = 'settling'
    for (const end of this.#openStreams) end()
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay)
      // What was left behind may go on to its next statement, once it is told of this one.
      await new Promise(setImmediate)
    }
    this.#state = 'closed'
  }

  /**
   * Throws the first error if it left the transaction unusable, which is the server's to say: the
   * error may have been the driver's alone, or healed.
   */
  async throwIfAborted(own: OwnTables): Promise<void> {
    const first = this.#firstError
    if (!first) return
    try {
      await own.run(sql`select 1`.compile(own.tables))
    } catch {
      throw first.error
    }
  }

  #provider(inner: ConnectionProvider): ConnectionProvider {
    return {
      provideConnection: async (consumer, options) => {
        // Kysely holds a connection for as long as a stream is read, which may be for ever.
        const run = inner.provideConnection(
          (connection) =>
            new Promise((resolve, reject: (reason: unknown) => void) => {
              const abandoned = () => {
                reject(closed())
              }
              consumer(this.#watched(connection, abandoned)).then(resolve, reject)
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

  #watched(connection: DatabaseConnection, abandoned: () => void): DatabaseConnection {
    return {
      executeQuery: async (query, options) => {
        const control = transactionControl(query.sql)
        try {
          if (control === 'ends') throw notYours()
          const result = await connection.executeQuery<never>(query, options)
          if (control === 'rolls back to a savepoint') this.#heal()
          return result
        } catch (error) {
          this.#firstError ??= { error }
          throw error
        }
      },
      streamQuery: (query, chunkSize, options) =>
        this.#stream(connection.streamQuery(query, chunkSize, options), abandoned),
      // By these an AbortSignal cancels a query, where the driver can.
      ...(connection.cancelQuery && { cancelQuery: connection.cancelQuery.bind(connection) }),
      ...(connection.collectSessionInfo && {
        collectSessionInfo: connection.collectSessionInfo.bind(connection),
      }),
      ...(connection.killSession && { killSession: connection.killSession.bind(connection) }),
    }
  }

  /** What the server refused is undone; what the driver gave up on may still be under way. */
  #heal(): void {
    if (sqlState(this.#firstError?.error) !== undefined) this.#firstError = undefined
  }

  async *#stream<T>(rows: AsyncIterableIterator<T>, abandoned: () => void) {
    if (this.#state !== 'lent') throw closed()
    const end = () => {
      this.#openStreams.delete(end)
      // Not waited for: on a lost connection a cursor never hears that it is closed. On a living
      // one the driver lets nothing pass before it is.
      rows.return?.().catch(() => undefined)
      abandoned()
    }
    this.#openStreams.add(end)
    try {
      for await (const chunk of rows) yield chunk
      // Ended by `#takeBack`, and not because all was read: nobody may take it for the whole.
      if (!this.#openStreams.has(end)) throw closed()
    } catch (error) {
      this.#firstError ??= { error }
      throw error
    } finally {
      this.#openStreams.delete(end)
    }
  }
}

function notYours(): OncelyError {
  return new OncelyError(
    'transaction_control',
    'a business function must not end its transaction: throw to roll back, return to commit',
  )
}

function closed(): OncelyError {
  return new OncelyError(
    'transaction_closed',
    'the transaction was used after its business function had settled; await every statement in it',
  )
}
