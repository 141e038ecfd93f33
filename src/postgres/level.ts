import type { Transaction } from 'kysely'

/**
 * Stands for the transaction, however it is wrapped: the same object for the same nesting. The connection
 * is the one object that every Kysely of a transaction shares, `withSchema` or not, and what is lent to
 * a function has one of its own.
 */
export async function levelOf<DB>(tx: Transaction<DB>): Promise<object> {
  return tx.getExecutor().provideConnection((connection) => Promise.resolve(connection))
}
