import { type DatabaseConnection, type Driver, PostgresDriver } from 'kysely'

import { loadNodePostgres } from './node-postgres.ts'
import type { PreparedNames } from './prepared-names.ts'
import { probed } from './probe.ts'
import { Turns } from './turns.ts'

/** What is known of the client behind a connection. */
export interface ClientOf {
  /** Lets statements share a turn, where it is node-postgres in JavaScript. */
  readonly turns?: Turns
  /** Whether it sends nothing before what it has sent is answered. */
  readonly sendsOneByOne?: boolean
  /** What it writes to. */
  readonly stream?: Stream
}

/** What is used of a stream of Node's. */
export interface Stream {
  destroy(): void
}

/** A client of which nothing is known: it is given texts, one after the other. */
export const OTHER: ClientOf = {}

/**
 * Whether a driver is Kysely's own for node-postgres. Not so one that is derived from it, such as that
 * for postgres.js.
 */
export function isNodePostgres(driver: Driver): boolean {
  return driver.constructor === PostgresDriver
}

/** Finds out what client a connection of Kysely's driver for node-postgres has. Nothing is sent. */
export async function clientOf(
  connection: DatabaseConnection,
  names: PreparedNames,
): Promise<ClientOf> {
  // pg is an optional peer, and what Kysely's driver is given may only look like its pool.
  const driver = await loadNodePostgres()
  const found = driver && (await probed(connection, driver))
  if (!found) return OTHER
  return { turns: new Turns(connection, driver, names), ...found }
}
