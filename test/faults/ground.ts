import { type Kysely, sql } from 'kysely'
import type { PoolConfig } from 'pg'

import { migrateToLatest } from '../../src/migrations.ts'
import { urlOf } from '../support/test-run.ts'
import { loseCommits } from './lost-commits.ts'
import { connect, type NotesDatabase } from './notes.ts'

/** Where the proofs run: a migrated database, and a way into it that nothing strikes at. */
export interface Ground {
  readonly url: string
  readonly db: Kysely<NotesDatabase>
  /** The same database by a way on which no COMMIT is answered. */
  readonly withoutAnswers: string
  /** How many notes there are under a key. */
  effects(key: string): Promise<number>
  close(): Promise<void>
}

/** Makes a database of that name on a server, which goes again with `close`. */
export async function makeGround(
  server: string,
  name: string,
  look: PoolConfig = { max: 16 },
): Promise<Ground> {
  await onServer(server, `create database ${name}`)
  const url = urlOf(server, name)
  const db = connect(url, 'plain', look)
  const relay = await loseCommits(url)
  await migrateToLatest(db)
  await sql`create table public.notes (key text not null, body text not null)`.execute(db)
  return {
    url,
    db,
    withoutAnswers: relay.url,
    async effects(key) {
      const notes = db.selectFrom('public.notes').select('body').where('key', '=', key)
      return (await notes.execute()).length
    },
    async close() {
      await relay.close()
      await db.destroy()
      await onServer(server, `drop database ${name} with (force)`)
    },
  }
}

async function onServer(server: string, statement: string): Promise<void> {
  const db = connect(server, 'plain', { max: 1 })
  try {
    await sql.raw(statement).execute(db)
  } finally {
    await db.destroy()
  }
}
