import { OncelyError } from '../errors.ts'

/**
 * @param user - the function that was given the database, for the message.
 * @throws OncelyError `invalid_options` for anything but a Kysely that opens transactions.
 */
export function refuseTransaction(db: unknown, user: string): void {
  if (db instanceof Object && 'isTransaction' in db && db.isTransaction === false) return
  throw new OncelyError('invalid_options', `${user} needs a Kysely, and not a transaction`)
}

/** @throws OncelyError `invalid_options` for anything but a Kysely, or a transaction on one. */
export function requireKysely(db: unknown): void {
  if (db instanceof Object && 'isTransaction' in db && 'withoutPlugins' in db) return
  throw new OncelyError('invalid_options', 'db must be a Kysely, or a transaction on one')
}

/** @throws OncelyError `invalid_options` for anything but an open transaction. */
export function requireTransaction(tx: unknown): void {
  if (tx instanceof Object && 'isTransaction' in tx && tx.isTransaction === true) return
  throw new OncelyError('invalid_options', 'withTransaction needs a transaction that is open')
}
