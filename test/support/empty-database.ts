import { randomBytes } from 'node:crypto'

import { sql } from 'kysely'

import type { TestDatabase } from './database.ts'
import { createDatabase, urlOf } from './test-run.ts'

/**
 * A database that has never seen us, beside the file's own, or a copy of another. It is dropped when the run
 * ends.
 */
export async function emptyDatabase(
  { url, watcher }: TestDatabase,
  copied?: string,
): Promise<string> {
  const name = `${nameOf(url)}_${randomBytes(4).toString('hex')}`
  await sql.raw(createDatabase(name, copied && nameOf(copied))).execute(watcher)
  return urlOf(url, name)
}

const nameOf = (url: string) => new URL(url).pathname.slice(1)
