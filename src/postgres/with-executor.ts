import {
  type Dialect,
  DummyDriver,
  type Kysely,
  PostgresIntrospector,
  type QueryCompiler,
  type QueryExecutor,
  Transaction,
} from 'kysely'

/** A transaction makes neither connections nor a compiler: its executor has both. */
class LentDialect implements Dialect {
  readonly #executor: QueryExecutor

  constructor(executor: QueryExecutor) {
    this.#executor = executor
  }

  createAdapter() {
    return this.#executor.adapter
  }

  createDriver() {
    return NO_DRIVER
  }

  createIntrospector(db: Kysely<unknown>) {
    return new PostgresIntrospector(db)
  }

  createQueryCompiler(): QueryCompiler {
    throw new Error('a transaction compiles with the compiler of its executor')
  }
}

const NO_DRIVER = new DummyDriver()

/** A transaction whose queries, its introspection's too, go through the executor given. */
export function withExecutor<DB>(executor: QueryExecutor): Transaction<DB> {
  const dialect = new LentDialect(executor)
  return new Transaction<DB>({ config: { dialect }, dialect, driver: NO_DRIVER, executor })
}
