import type { DatabaseConnection, Transaction } from 'kysely'

// The connection is the one object that every Kysely of a transaction shares, `withSchema` or not. What
// is lent to a function has a level of its own, on the same connection.
const levels = new WeakMap<DatabaseConnection, object>()

/** To be called for each connection that stands for a transaction that is lent. */
export function setLevel(connection: DatabaseConnection, level: object): void {
  levels.set(connection, level)
}

/** Stands for the transaction, however it is wrapped: the same object for the same nesting. */
export async function levelOf<DB>(tx: Transaction<DB>): Promise<object> {
  return tx
    .getExecutor()
    .provideConnection((connection) => Promise.resolve(levels.get(connection) ?? connection))
}
