import {
  type AbortableOperationOptions,
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type TransactionSettings,
} from 'kysely'

import { setControl } from './connection-control.ts'
import { Hold } from './hold.ts'
import { clientOf, type ClientOf, isNodePostgres, OTHER } from './client.ts'
import { PreparedNames } from './prepared-names.ts'
import { OVER, within } from './within.ts'

/** A driver around another, see `oncelyDialect`. It hands out the inner driver's own connections. */
export class OncelyDriver implements Driver {
  readonly #inner: Driver
  readonly #names: PreparedNames
  readonly #clients = new WeakMap<DatabaseConnection, ClientOf>()
  readonly #holds = new WeakMap<DatabaseConnection, Hold>()
  // A driver without savepoints must not seem to have some.
  readonly savepoint?: NonNullable<Driver['savepoint']>
  readonly rollbackToSavepoint?: NonNullable<Driver['rollbackToSavepoint']>
  readonly releaseSavepoint?: NonNullable<Driver['releaseSavepoint']>

  constructor(inner: Driver, prepare: boolean) {
    this.#inner = inner
    this.#names = new PreparedNames(prepare && isNodePostgres(inner))
    if (inner.savepoint) this.savepoint = inner.savepoint.bind(inner)
    if (inner.rollbackToSavepoint) {
      this.rollbackToSavepoint = inner.rollbackToSavepoint.bind(inner)
    }
    if (inner.releaseSavepoint) this.releaseSavepoint = inner.releaseSavepoint.bind(inner)
  }

  init(options?: AbortableOperationOptions): Promise<void> {
    return this.#inner.init(options)
  }

  async acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    const connection = await this.#inner.acquireConnection(options)
    const client = this.#clients.get(connection) ?? (await this.#clientOf(connection))
    const hold = new Hold(connection, client, this.#names)
    this.#holds.set(connection, hold)
    setControl(connection, hold)
    return connection
  }

  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const hold = this.#holdOf(connection)
    await hold.beginning(() => this.#inner.beginTransaction(connection, settings))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#holdOf(connection).committing(
      (query) => connection.executeQuery(query),
      () => this.#inner.commitTransaction(connection),
    )
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const hold = this.#holdOf(connection)
    // It would wait for ever behind what was given up.
    if (!hold.canRollBack) return
    if (hold.rollsBackBehind) {
      hold.rollingBackBehind(() => this.#inner.rollbackTransaction(connection))
      return
    }
    try {
      await hold.unlessAbandoned(this.#inner.rollbackTransaction(connection))
      hold.rolledBack = true
    } catch {
      // Thrown, it would take the place of the error that led here.
      hold.tainted = true
    }
  }

  async releaseConnection(
    connection: DatabaseConnection,
    options?: AbortableOperationOptions,
  ): Promise<void> {
    const release = () => this.#inner.releaseConnection(connection, options)
    if (!this.#holdOf(connection).tainted) return release()
    await this.#discard(connection)
    // Refused at once by a driver that has discarded it. Any other answers when the transaction is
    // over; if that takes longer, nobody waits for it, and nobody else gets the connection before.
    const clean = connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined)
    if ((await within(1, clean)) !== OVER) {
      await release()
      // A client that pipelines ends when all that it has sent is answered, and until then nobody gets
      // its place in the pool. Behind `release`, so that it is told as the end and not as a loss.
      this.#clients.get(connection)?.stream?.destroy()
      return
    }
    clean.then(release).catch(() => undefined)
  }

  destroy(options?: AbortableOperationOptions): Promise<void> {
    return this.#inner.destroy(options)
  }

  /**
   * Kysely's interfaces have no word for "destroy this connection", but its driver does so, from 0.29.8
   * on, with one whose ROLLBACK failed: it is shown one that fails. Nothing is sent, so that it works
   * on a stalled link, where the pool then cuts the socket.
   */
  async #discard(connection: DatabaseConnection): Promise<void> {
    const failing = new Proxy(connection, {
      get(target, name) {
        if (name === 'executeQuery') return () => Promise.reject(new Error('given up'))
        const value: unknown = Reflect.get(target, name)
        // Private members are those of the connection itself and not of a proxy of it.
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    await this.#inner.rollbackTransaction(failing).catch(() => undefined)
  }

  async #clientOf(connection: DatabaseConnection): Promise<ClientOf> {
    if (!isNodePostgres(this.#inner)) return OTHER
    const client = await clientOf(connection, this.#names)
    this.#clients.set(connection, client)
    return client
  }

  #holdOf(connection: DatabaseConnection): Hold {
    const hold = this.#holds.get(connection)
    if (!hold) throw new Error('this connection was not acquired from this driver')
    return hold
  }
}
