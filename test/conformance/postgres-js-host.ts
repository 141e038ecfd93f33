import { type Dialect, Kysely } from 'kysely'
import { PostgresJSDialect } from 'kysely-postgres-js'
import postgres from 'postgres'

import type { NotesDatabase } from '../support/notes-host.ts'
import type { HostConnection } from './host.ts'

export interface PostgresJsHost {
  readonly db: Kysely<NotesDatabase>
  /** To be ended by who made it. */
  readonly pool: postgres.Sql
  /** Resolves when the driver has seen a connection close. */
  readonly closed: Promise<undefined>
}

/** A host on postgres.js. */
export function postgresJsHost(
  url: string,
  { applicationName = 'host' }: Pick<HostConnection, 'applicationName'> = {},
  {
    max = 4,
    wrap = same,
  }: { max?: number; wrap?: ((dialect: Dialect) => Dialect) | undefined } = {},
): PostgresJsHost {
  const closed = Promise.withResolvers<undefined>()
  const pool = postgres(url, {
    max,
    connection: { application_name: applicationName },
    // Otherwise it prints what a server says at its end.
    onnotice: () => undefined,
    onclose: () => {
      closed.resolve(undefined)
    },
  })
  const dialect = wrap(new PostgresJSDialect({ postgres: pool }))
  return { pool, closed: closed.promise, db: new Kysely<NotesDatabase>({ dialect }) }
}

const same = (dialect: Dialect) => dialect
