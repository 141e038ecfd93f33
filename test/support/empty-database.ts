import { randomBytes } from 'node:crypto'

import { sql } from 'kysely'

import type { TestDatabase } from './database.ts'
import { urlOf } from './test-run.ts'

/** A database that has never seen us, beside the file's own. It is dropped when the run ends. */
export async function emptyDatabase({ url, watcher }: TestDatabase): Promise<string> {
  const name = `${new URL(url).pathname.slice(1)}_${randomBytes(4).toString('hex')}`
  await sql`create database ${sql.id(name)}`.execute(watcher)
  return urlOf(url, name)
}
