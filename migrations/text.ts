import { type RawBuilder, sql } from 'kysely'

/**
 * A column for a text of 1 to 200 characters, which is 800 octets of UTF-8 at the most: four of them
 * still fit the row of an index. Compared by octet, whatever the database's collation.
 */
export function text200(
  column: string,
  nullable: 'not null' | 'null' = 'not null',
): RawBuilder<unknown> {
  const name = sql.id(column)
  return sql`${name} text collate "C" ${sql.raw(nullable)} check (
    char_length(${name}) between 1 and 200 and octet_length(${name}) <= 800)`
}
