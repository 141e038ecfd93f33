import { type ConnectionProvider, DummyDriver, type Dialect, Transaction } from 'kysely'

/**
 * The same transaction, with something between it and its connection. Plugins, schema and types
 * stay as they are: only where compiled queries go is another.
 */
export function rewiredTransaction<DB>(
  trx: Transaction<DB>,
  rewire: (inner: ConnectionProvider) => ConnectionProvider,
): Transaction<DB> {
  const executor = trx.getExecutor()
  // A transaction makes neither connections nor a compiler: the executor has both.
  const dialect: Dialect = {
    createAdapter: () => executor.adapter,
    createDriver: () => new DummyDriver(),
    createIntrospector: () => trx.introspection,
    createQueryCompiler: () => {
      throw new Error('a transaction compiles with the compiler of its executor')
    },
  }
  return new Transaction<DB>({
    config: { dialect },
    dialect,
    driver: new DummyDriver(),
    executor: executor.withConnectionProvider(rewire(executor)),
  })
}
