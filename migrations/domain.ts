import { type Kysely, type RawBuilder, sql } from 'kysely'

/**
 * A type of our own for columns that have a limit. PostgreSQL reads and plans each CHECK of a table
 * anew at every INSERT and UPDATE; that of a domain it plans once a session, and evaluates for values
 * that are set. Each migration has its own, so that one can be undone without another; and as an
 * error names only the domain's check, `<domain>_check`, the domain is named after table and column.
 */
export interface Domain {
  /** What the column is declared as; NOT NULL belongs to the column. */
  readonly type: RawBuilder<unknown>
  readonly create: (db: Kysely<unknown>) => Promise<void>
  readonly drop: (db: Kysely<unknown>) => Promise<void>
}

/**
 * @param base - the type whose values it takes; a text has to say that it compares by octet.
 * @param check - what `value` must satisfy.
 */
export function domain(schema: string, name: string, base: string, check: string): Domain {
  const type = sql.id(schema, name)
  return {
    type,
    create: async (db) => {
      await sql`
        create domain ${type} as ${sql.raw(base)}
        constraint ${sql.id(`${name}_check`)} check (${sql.raw(check)})`.execute(db)
    },
    drop: async (db) => {
      await sql`drop domain ${type}`.execute(db)
    },
  }
}

/**
 * A text of 1 to 200 characters, which no encoding of a server makes more than 800 octets of: four of
 * them still fit the row of an index. Compared by octet, whatever the database's collation.
 */
export function textDomain(schema: string, name: string): Domain {
  return domain(schema, name, OCTETS, 'char_length(value) between 1 and 200')
}

/** A text that is compared by octet: a changed collation library must not corrupt an index. */
export const OCTETS = 'text collate "C"'
