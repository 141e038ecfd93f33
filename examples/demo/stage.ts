import { Kysely, type LogConfig, PostgresDialect } from 'kysely'
import { createIdempotency, type Idempotency, type IdempotencyOptions } from 'oncely'
import { Client, Pool } from 'pg'

import type { DB } from '../../codegen/db.ts'
import { untilWaiting } from '../../test/support/waiting.ts'
import type { OrdersDatabase } from '../orders/order.ts'
import { say } from './print.ts'

/** One caller, on a connection of its own. */
export interface Side {
  readonly db: Kysely<OrdersDatabase>
  readonly idempotency: Idempotency<OrdersDatabase>
  say(text: string): void
}

/** Two callers, and somebody who watches. */
export interface Stage {
  readonly schema: string
  readonly first: Side
  readonly twin: Side
  readonly watcher: Kysely<DB>
  /** A caller whose statements are seen by `log`, which may hold them up. */
  side(name: string, options?: IdempotencyOptions, log?: LogConfig): Side
  /** Waits until that side is seen to wait for a lock, and says so. */
  seeWaiting(name: string): Promise<void>
  /** Breaks off whatever is under way and drops the schema. */
  clear(): Promise<void>
  /** The same, and closes the connections. */
  leave(): Promise<void>
}

/** Longer than any scenario takes: these callers wait for each other to end. */
const PATIENCE_MS = 20_000

/** The schema is new and the stage's own, so that a database in use stays as it is. */
export function openStage(url: string, schema: string): Stage {
  const open: Kysely<never>[] = []

  const connect = <Tables>(name: string, log?: LogConfig): Kysely<Tables> => {
    const pool = new Pool({ connectionString: url, max: 1, application_name: `${schema}-${name}` })
    // A connection that is lost is found by its next use; unheard, the event would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined))
    pool.on('error', () => undefined)
    const dialect = new PostgresDialect({ pool })
    const db = new Kysely<Tables>({ dialect, ...(log && { log }) }).withSchema(schema)
    open.push(db as unknown as Kysely<never>)
    return db
  }

  const side = (name: string, options?: IdempotencyOptions, log?: LogConfig): Side => {
    const db = connect<OrdersDatabase>(name, log)
    const idempotency = createIdempotency(db, { schema, lockTimeoutMs: PATIENCE_MS, ...options })
    return {
      db,
      idempotency,
      say: (text) => {
        say(name, text)
      },
    }
  }

  const watcher = connect<DB>('watcher')

  const clear = async () => {
    // Any connection of the stage may be held up, by a scenario broken off or by a lock elsewhere.
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where starts_with(application_name, $1)',
        [schema],
      )
      await client.query(`drop schema if exists ${schema} cascade`)
    } finally {
      await client.end()
    }
  }

  return {
    schema,
    first: side('first'),
    twin: side('twin'),
    watcher,
    side,

    async seeWaiting(name) {
      const { pid, type, event } = await untilWaiting(
        watcher as unknown as Kysely<never>,
        `${schema}-${name}`,
      )
      say('watcher', `pg_stat_activity: ${name} (pid ${pid}) waits, ${type}: ${event}`)
    },

    clear,

    async leave() {
      await clear()
      await Promise.all(open.map((db) => db.destroy()))
    },
  }
}
