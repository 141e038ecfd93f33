import {
  type Dialect,
  DummyDriver,
  PostgresIntrospector,
  type QueryExecutor,
  Transaction,
} from 'kysely'

/** A transaction whose queries, its introspection's too, go through the executor given. */
export function withExecutor<DB>(executor: QueryExecutor): Transaction<DB> {
  // A transaction makes neither connections nor a compiler: the executor has both.
  const dialect: Dialect = {
    createAdapter: () => executor.adapter,
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => {
      throw new Error('a transaction compiles with the compiler of its executor')
    },
  }
  return new Transaction<DB>({ config: { dialect }, dialect, driver: new DummyDriver(), executor })
}
