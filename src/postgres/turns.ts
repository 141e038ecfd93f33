import { type AbortableOperationOptions, CompiledQuery, type DatabaseConnection } from 'kysely'

import { Batch } from './batch.ts'
import type { NodePostgres } from './node-postgres.ts'
import type { PreparedNames } from './prepared-names.ts'

/** Lets statements on a connection of node-postgres share a turn. */
export class Turns {
  readonly #driver: NodePostgres
  readonly #names: PreparedNames
  readonly #execute: DatabaseConnection['executeQuery']
  #gathered: Batch | undefined

  /**
   * To be called before Kysely puts its logger around the connection: a logger is told of each statement
   * by itself, and by its text.
   */
  constructor(connection: DatabaseConnection, driver: NodePostgres, names: PreparedNames) {
    this.#driver = driver
    this.#names = names
    this.#execute = connection.executeQuery.bind(connection)
    connection.executeQuery = this.#executed.bind(this)
  }

  /** What is executed until the present tick is over is sent together then. */
  gather(): void {
    if (this.#gathered) return
    const batch = new Batch(this.#driver)
    this.#gathered = batch
    process.nextTick(() => {
      this.#gathered = undefined
      if (batch.parts.length > 0) this.#send(batch)
    })
  }

  #executed<Row>(query: CompiledQuery, options?: AbortableOperationOptions) {
    if (!this.#gathered) return this.#execute<Row>(query, options)
    return this.#gathered.add<Row>(query, this.#names.on)
  }

  /** Kysely passes the text of a statement on as it is, and node-postgres takes a query for it. */
  #send(batch: Batch): void {
    const query = CompiledQuery.raw('')
    this.#execute({ ...query, sql: batch as unknown as string }).catch((error: unknown) => {
      for (const part of batch.parts) part.reject(error)
    })
  }
}
