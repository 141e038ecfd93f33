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
  /** What the client has, and is not written. */
  #lingering: Batch | undefined

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
    const batch = this.#lingering?.isOpen ? this.#lingering : new Batch(this.#driver)
    this.#gathered = batch
    process.nextTick(() => {
      this.#gathered = undefined
      if (batch === this.#lingering) this.#flush()
      else this.#send(batch)
    })
  }

  /**
   * What `execute` executes at once is written together with what is gathered next, or alone once the
   * event loop has come round. The client has it from now on, so that nothing gets in front of it.
   *
   * @param alone - is called where it is written alone.
   */
  linger<T>(execute: () => T, alone: () => void): T {
    const batch = new Batch(this.#driver)
    batch.lingers = true
    this.#gathered = batch
    const executed = execute()
    this.#gathered = undefined
    this.#lingering = batch
    this.#send(batch)
    setImmediate(() => {
      if (batch !== this.#lingering) return
      this.#flush()
      alone()
    })
    return executed
  }

  #flush(): void {
    this.#lingering?.flush()
    this.#lingering = undefined
  }

  #executed<Row>(query: CompiledQuery, options?: AbortableOperationOptions) {
    if (!this.#gathered) return this.#execute<Row>(query, options)
    return this.#gathered.add<Row>(query, this.#names.on)
  }

  /** Kysely passes the text of a statement on as it is, and node-postgres takes a query for it. */
  #send(batch: Batch): void {
    if (batch.parts.length === 0) return
    const query = CompiledQuery.raw('')
    this.#execute({ ...query, sql: batch as unknown as string }).catch((error: unknown) => {
      batch.fail(error)
    })
  }
}
