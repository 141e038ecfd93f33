// A host as the conformance suite sees it, and what each behaviour is given to try it.
import { type Kysely, sql } from 'kysely'
import { createIdempotency, type Idempotency, type IdempotencyOptions } from 'oncely'

import type { DB } from '../../codegen/db.ts'
import type { Left, NotesDatabase } from '../support/notes-host.ts'
import type { WireProxy } from '../support/wire-proxy.ts'

/** What a behaviour wants of a connection. */
export interface HostConnection {
  /** By which `pg_stat_activity` shows it. */
  readonly applicationName?: string
  /** Another way to the same database. */
  readonly url?: string
}

/** One way to be a host of the library: a driver, plugins, a schema, a role. */
export interface ConformingHost<Cannot extends string = string> {
  readonly name: string
  /** Where the library's tables are. */
  readonly schema: string
  /** Makes what the host needs in the database; run once before its behaviours. */
  readonly prepare?: () => Promise<unknown>
  /** The host's own Kysely. It is closed behind the last test. */
  readonly connect: (connection?: HostConnection) => Kysely<NotesDatabase>
  /** Outside of what is tested: sees the library's tables, and may do everything. */
  readonly watcher: () => Kysely<DB>
  /** Stands between the host and its database, for a COMMIT to be lost. */
  readonly proxy?: WireProxy
  /** Settings that every session of the host has. */
  readonly settings?: Readonly<Record<string, string>>
  /** What it cannot keep → why. What it does instead is a test of its own. */
  readonly cannot?: Readonly<Partial<Record<Cannot, string>>>
}

/** What a behaviour is given. */
export interface Subject {
  readonly host: ConformingHost
  /** One Kysely for all that needs no second. */
  readonly db: Kysely<NotesDatabase>
  readonly watcher: Kysely<DB>
  /** A key that no other host in the same database uses. */
  key(name: string): string
  idempotency(options?: IdempotencyOptions, db?: Kysely<NotesDatabase>): Idempotency<NotesDatabase>
  /** What is committed under a key. */
  left(key: string): Promise<Left>
  /** Lets the replay window of a key's record end. */
  pastWindow(key: string): Promise<void>
}

export type Behaviour = (subject: Subject) => Promise<void>

/** To be called inside of tests: the database is there then, and not before. */
export function subjectOf(host: ConformingHost): Subject {
  const db = host.connect()
  const watcher = host.watcher()
  const notes = watcher.withSchema('public').$extendTables<Pick<NotesDatabase, 'notes'>>()
  return {
    host,
    db,
    watcher,
    key: (name) => `${name} (${host.name})`,
    idempotency: (options, of = db) => createIdempotency(of, { schema: host.schema, ...options }),
    async left(key) {
      const written = await notes
        .selectFrom('notes')
        .select('body')
        .where('key', '=', key)
        .orderBy('body')
        .execute()
      const records = await watcher
        .selectFrom('records')
        .select('state')
        .where('key', '=', key)
        .execute()
      const events = await watcher
        .selectFrom('outbox')
        .select('type')
        .where('aggregateid', '=', key)
        .orderBy('id')
        .execute()
      return {
        notes: written.map(({ body }) => body),
        records: records.map(({ state }) => state),
        events: events.map(({ type }) => type),
      }
    },
    async pastWindow(key) {
      const ended = { replay_until: sql<Date>`to_timestamp(0)` }
      await watcher.updateTable('records').set(ended).where('key', '=', key).execute()
    },
  }
}
