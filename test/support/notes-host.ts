import { beforeEach } from 'node:test'

import { type Kysely, sql, type Transaction } from 'kysely'
import { type CallContext, fingerprint } from 'oncely'

import type { ConnectOptions, TestDatabase } from './database.ts'
import { untilWaiting } from './waiting.ts'

/** The tables of the tests' own host. A body can be written once a key. */
export interface NotesDatabase {
  notes: { body: string; key: string }
}

/** What is committed under a key, as seen from outside. */
export interface Left {
  /** Bodies of the notes. */
  readonly notes: readonly string[]
  /** States of the records: one at most. */
  readonly records: readonly string[]
  /** Types of the events. */
  readonly events: readonly string[]
}

export interface NotesHost {
  connect(options?: ConnectOptions): Kysely<NotesDatabase>
  left(key: string): Promise<Left>
  /** Waits until that many sessions of an application are seen to wait for a lock. */
  untilWaiting(applicationName: string, count?: number): Promise<void>
}

/** Longer than any test takes: for callers that wait for each other to end. */
export const PATIENCE_MS = 20_000

export const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
export const one = fingerprint({ note: 1 }, { version: 1 })
export const other = fingerprint({ note: 2 }, { version: 1 })

/** Of a call that took effect, and of one that did not. */
export const written: Left = { notes: ['note'], records: ['completed'], events: ['note.written'] }
export const nothing: Left = { notes: [], records: [], events: [] }

/** To be called once, behind `testDatabase`: a host whose tables are not in our schema. */
export function notesHost(database: TestDatabase): NotesHost {
  const watcher = database.watcher
    .withSchema('public')
    .$extendTables<Pick<NotesDatabase, 'notes'>>()
  let created: Promise<unknown> | undefined

  // Not by `before`: those of a file run all at once, and this one needs the database.
  beforeEach(async () => {
    created ??= sql`create table public.notes (
      key text not null, body text not null, constraint notes_pkey primary key (key, body)
    )`.execute(watcher)
    await created
  })

  return {
    // No statement waits for ever: a test that goes wrong fails.
    connect: (options) =>
      database.connect<NotesDatabase>({
        schema: null,
        statement_timeout: PATIENCE_MS,
        ...options,
      }),

    async left(key) {
      const of = database.watcher
      const [notes, records, events] = await Promise.all([
        watcher.selectFrom('notes').select('body').where('key', '=', key).execute(),
        of.selectFrom('records').select('state').where('key', '=', key).execute(),
        of.selectFrom('outbox').select('type').where('aggregateid', '=', key).execute(),
      ])
      return {
        notes: notes.map(({ body }) => body),
        records: records.map(({ state }) => state),
        events: events.map(({ type }) => type),
      }
    },

    async untilWaiting(applicationName, count) {
      await untilWaiting(watcher as unknown as Kysely<never>, applicationName, count)
    },
  }
}

/** The business: a note and an event. Writing the same body again violates `notes_pkey`. */
export async function writeNote(
  tx: Transaction<NotesDatabase>,
  context: CallContext,
  body = 'note',
): Promise<string> {
  await tx.insertInto('notes').values({ key: context.key, body }).execute()
  context.emit({
    type: 'note.written',
    aggregateType: 'note',
    aggregateId: context.key,
    payload: body,
  })
  return body
}
