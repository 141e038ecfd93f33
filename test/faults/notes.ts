import { randomUUID } from 'node:crypto'
import { once } from 'node:events'

import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import { type CallContext, fingerprint, type IdempotencyOptions } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import { Pool, type PoolConfig } from 'pg'

import type { DB } from '../../codegen/db.ts'
import { TextsAlone } from '../support/texts-alone.ts'

/** The business of the proofs: a note, whose body is the run of the function that wrote it. */
export interface NotesDatabase extends DB {
  'public.notes': { key: string; body: string }
}

export interface Answer {
  readonly kind: string
  /** Of a refusal. */
  readonly replayed?: boolean
  /** Of a sweep. */
  readonly cleared?: number
}

export interface Note {
  readonly run: string
}

export const scope = { tenant: 't1', actor: 'u1', operation: 'notes.create' }
export const one = fingerprint({ note: 1 }, { version: 1 })
export const other = fingerprint({ note: 2 }, { version: 1 })

/** Short, since each of many faults waits for one of them. */
export const hasty: IdempotencyOptions = {
  lockTimeoutMs: 50,
  resolveTimeoutMs: 1_000,
  idleInTransactionTimeoutMs: 600,
  retryAfterMs: 1,
}

export const hostNames = ['plain', 'textsAlone', 'oncelyDialect', 'pipelining'] as const

export type HostName = (typeof hostNames)[number]

export function connect(
  url: string,
  host: HostName,
  options: PoolConfig = { max: 4 },
): Kysely<NotesDatabase> {
  return open(url, host, options).db
}

/** The same, and a way to wait for what is not waited for behind an answer, such as a rollback. */
export function open(url: string, host: HostName, options: PoolConfig = { max: 4 }) {
  const pipeline = host === 'pipelining'
  // `oncelyDialect` then waits for each statement.
  const alone = host === 'textsAlone' && { Client: TextsAlone }
  const pool = guardPool(new Pool({ connectionString: url, pipeline, ...alone, ...options }))
  const dialect = new PostgresDialect({ pool })
  const db = new Kysely<NotesDatabase>({
    dialect: host === 'plain' ? dialect : oncelyDialect(dialect),
  })
  let back: Promise<void> | undefined
  const wait = async () => {
    while (pool.totalCount > pool.idleCount) await once(pool, 'release')
    back = undefined
  }
  return {
    db,
    /** Waits until no connection is out, together with whoever does. */
    untilBack: () => (back ??= wait()),
  }
}

/** Which call each run of the function belongs to, and what its caller was told. */
export class Runs {
  readonly #told = new Map<string, string | undefined>()
  /** Runs that were the second of one call. */
  readonly again: string[] = []

  /** Makes one call; `begin` is to be asked for a new run whenever the function is run. */
  async during<Result extends Answer>(
    call: (begin: () => string) => Promise<Result>,
  ): Promise<Result> {
    const begun: string[] = []
    const tell = (told: string) => {
      for (const run of begun) this.#told.set(run, told)
    }
    try {
      const result = await call(() => {
        const run = randomUUID()
        if (begun.length > 0) this.again.push(run)
        begun.push(run)
        this.#told.set(run, undefined)
        return run
      })
      tell(result.replayed ? 'a replay' : result.kind)
      return result
    } catch (error) {
      tell('an error')
      throw error
    }
  }

  /** What the caller was told whose run this is; undefined while it has not been told. */
  toldOf(run: string): string | undefined {
    return this.#told.get(run)
  }
}

/** The business function: one note and one event a run. */
export async function writeNote(
  tx: Transaction<NotesDatabase>,
  { key, emit }: CallContext,
  run: string,
): Promise<Note> {
  await tx.insertInto('public.notes').values({ key, body: run }).execute()
  emit({ type: 'note.written', aggregateType: 'note', aggregateId: key, payload: { run } })
  return { run }
}
