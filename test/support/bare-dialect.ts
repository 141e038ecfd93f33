import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Pool, PoolClient } from 'pg'

/** A dialect by somebody else: what it must do and no more, so it discards no connection. */
export function bareDialect(pool: Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new BareDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class BareDriver implements Driver {
  readonly #pool: Pool
  readonly #clients = new WeakMap<DatabaseConnection, PoolClient>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  init = () => Promise.resolve()
  destroy = () => Promise.resolve()

  async acquireConnection(): Promise<DatabaseConnection> {
    const client = await this.#pool.connect()
    const connection: DatabaseConnection = {
      async executeQuery({ sql, parameters }) {
        const { rows, rowCount } = await client.query(sql, [...parameters])
        return { rows: rows as never[], numAffectedRows: BigInt(rowCount ?? 0) }
      },
      streamQuery() {
        throw new Error('this driver has no streams')
      },
    }
    this.#clients.set(connection, client)
    return connection
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#clients.get(connection)?.release()
    return Promise.resolve()
  }
}
