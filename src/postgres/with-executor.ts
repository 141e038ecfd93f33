import { type Dialect, DummyDriver, type QueryExecutor, Transaction } from 'kysely'

/** The same transaction, types and all, whose queries go through another executor. */
export function withExecutor<DB>(trx: Transaction<DB>, executor: QueryExecutor): Transaction<DB> {
  // A transaction makes neither connections nor a compiler: the executor has both.
  const dialect: Dialect = {
    createAdapter: () => executor.adapter,
    createDriver: () => new DummyDriver(),
    createIntrospector: () => trx.introspection,
    createQueryCompiler: () => {
      throw new Error('a transaction compiles with the compiler of its executor')
    },
  }
  return new Transaction<DB>({ config: { dialect }, dialect, driver: new DummyDriver(), executor })
}
