import { Client } from 'pg'

/**
 * A client that takes texts alone, as Kysely asks of one. Under `oncelyDialect` a host with such clients
 * waits for each statement, with all the manners of the dialect.
 */
export class TextsAlone extends Client {
  // Nothing but `never` is what all of pg's overloads may return.
  override query(...given: unknown[]): never {
    if (sendsItself(given[0])) throw new Error('a text, please')
    return Reflect.apply(super.query.bind(this), this, given) as never
  }
}

/** Whether it is a query that brings its own way of being sent, as a batch of statements does. */
export function sendsItself(query: unknown): boolean {
  const { submit } = Object(query) as { readonly submit?: unknown }
  return typeof submit === 'function'
}
