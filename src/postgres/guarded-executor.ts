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

/**
 * An executor that asks before each query whether it may run. Kysely's own check, after the end of
 * a transaction, throws an error that nobody can tell from others.
 */
export class GuardedExecutor implements QueryExecutor {
  readonly #inner: QueryExecutor
  readonly #guard: () => void

  constructor(inner: QueryExecutor, guard: () => void) {
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
    this.#guard()
    return this.#inner.executeQuery(query, options)
  }

  async *stream<Row>(
    query: CompiledQuery<Row>,
    chunkSize: number,
    options?: AbortableOperationOptions,
  ): AsyncIterableIterator<QueryResult<Row>> {
    this.#guard()
    yield* this.#inner.stream(query, chunkSize, options)
  }

  async provideConnection<T>(
    consumer: (connection: DatabaseConnection) => Promise<T>,
    options?: AbortableOperationOptions,
  ): Promise<T> {
    this.#guard()
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
