import type {
  AbortableOperationOptions,
  AbortableQueryOptions,
  CompiledQuery,
  ConnectionProvider,
  DatabaseConnection,
  KyselyPlugin,
  QueryExecutor,
  QueryId,
  QueryResult,
  RootOperationNode,
} from 'kysely'

/** Who is asked before each query, and told of each that failed. */
export interface Guard {
  /** Throws when nothing may run any more. */
  admit(): void
  failed(error: unknown): void
}

/**
 * An executor under guard. It sees what the caller sees, such as a query given up by an AbortSignal
 * that goes on at the server. Kysely's own check, after the end of a transaction, throws an error
 * that nobody can tell from others.
 */
export class GuardedExecutor implements QueryExecutor {
  readonly #inner: QueryExecutor
  readonly #guard: Guard

  constructor(inner: QueryExecutor, guard: Guard) {
    this.#inner = inner
    this.#guard = guard
  }

  get adapter() {
    return this.#inner.adapter
  }

  get plugins() {
    return this.#inner.plugins
  }

  transformQuery<Node extends RootOperationNode>(node: Node, queryId: QueryId): Node {
    return this.#inner.transformQuery(node, queryId)
  }

  compileQuery<Row>(node: RootOperationNode, queryId: QueryId): CompiledQuery<Row> {
    return this.#inner.compileQuery(node, queryId)
  }

  async executeQuery<Row>(
    query: CompiledQuery<Row>,
    options?: AbortableQueryOptions,
  ): Promise<QueryResult<Row>> {
    this.#guard.admit()
    try {
      return await this.#inner.executeQuery(query, options)
    } catch (error) {
      this.#guard.failed(error)
      throw error
    }
  }

  async *stream<Row>(
    query: CompiledQuery<Row>,
    chunkSize: number,
    options?: AbortableOperationOptions,
  ): AsyncIterableIterator<QueryResult<Row>> {
    this.#guard.admit()
    try {
      yield* this.#inner.stream(query, chunkSize, options)
    } catch (error) {
      this.#guard.failed(error)
      throw error
    }
  }

  async provideConnection<T>(
    consumer: (connection: DatabaseConnection) => Promise<T>,
    options?: AbortableOperationOptions,
  ): Promise<T> {
    this.#guard.admit()
    return this.#inner.provideConnection(consumer, options)
  }

  withConnectionProvider(provider: ConnectionProvider): QueryExecutor {
    return this.#with(this.#inner.withConnectionProvider(provider))
  }

  withPlugin(plugin: KyselyPlugin): QueryExecutor {
    return this.#with(this.#inner.withPlugin(plugin))
  }

  withPlugins(plugins: readonly KyselyPlugin[]): QueryExecutor {
    return this.#with(this.#inner.withPlugins(plugins))
  }

  withPluginAtFront(plugin: KyselyPlugin): QueryExecutor {
    return this.#with(this.#inner.withPluginAtFront(plugin))
  }

  withoutPlugins(): QueryExecutor {
    return this.#with(this.#inner.withoutPlugins())
  }

  #with(inner: QueryExecutor): QueryExecutor {
    return new GuardedExecutor(inner, this.#guard)
  }
}
