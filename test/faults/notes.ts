import { randomUUID } from 'node:crypto'

import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import { type CallContext, fingerprint, type IdempotencyOptions } from 'oncely'
import { guardPool, oncelyDialect } from 'oncely/pg'
import type { Finding, ToldCall } from 'oncely/testing'
import { Pool } from 'pg'

import type { DB } from '../../codegen/db.ts'

/** The business of the proofs: a note, whose body is the run of the function that wrote it. */
export interface NotesDatabase extends DB {
  'public.notes': { key: string; body: string }
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
  idleInTransactionTimeoutMs: 400,
  retryAfterMs: 1,
}

export type HostName = 'plain' | 'oncelyDialect'

export function connect(url: string, host: HostName, max = 4): Kysely<NotesDatabase> {
  const dialect = new PostgresDialect({ pool: guardPool(new Pool({ connectionString: url, max })) })
  return new Kysely({ dialect: host === 'plain' ? dialect : oncelyDialect(dialect) })
}

/** Which call each run of the function belongs to, and what its caller was told. */
export class Runs {
  readonly #told = new Map<string, string | undefined>()

  /** Makes one call; `begin` is to be asked for a new run whenever the function is run. */
  async during<Result extends { readonly kind: string }>(
    call: (begin: () => string) => Promise<Result>,
  ): Promise<Result> {
    const begun: string[] = []
    const tell = (told: string) => {
      for (const run of begun) this.#told.set(run, told)
    }
    try {
      const result = await call(() => {
        const run = randomUUID()
        begun.push(run)
        this.#told.set(run, undefined)
        return run
      })
      tell(result.kind)
      return result
    } catch (error) {
      tell('error')
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

/** What is committed under a key. */
export async function left(db: Kysely<NotesDatabase>, key: string) {
  const own = db.withSchema('idem')
  const [notes, records, events] = await Promise.all([
    db.selectFrom('public.notes').select('body').where('key', '=', key).execute(),
    own.selectFrom('records').select(['state', 'response']).where('key', '=', key).execute(),
    own.selectFrom('outbox').select('id').where('aggregateid', '=', key).execute(),
  ])
  return { runs: notes.map(({ body }) => body), records, events: events.length }
}

const mayOwn: readonly (string | undefined)[] = ['executed', 'applied', 'unknown', undefined]

/** What has to hold besides of a key under which notes are written. */
export async function checkNotes(
  db: Kysely<NotesDatabase>,
  runs: Runs,
  key: string,
  calls: readonly ToldCall[],
): Promise<Finding[]> {
  const { runs: written, records, events } = await left(db, key)
  const findings: Finding[] = []
  const add = (wrong: Finding['wrong'], why: string) => findings.push({ wrong, why })
  if (events !== written.length)
    add('lost', `${events} events are there for ${written.length} notes`)
  const states = records.map(({ state }) => state).join()
  if (!/^(completed|rejected|expired)$/.test(states)) add('lost', `the records are '${states}'`)
  for (const run of written) {
    const told = runs.toldOf(run)
    if (!mayOwn.includes(told)) add('misreported', `${run} is there, and its caller told '${told}'`)
  }
  for (const { told } of calls) {
    const value = told && 'result' in told ? valueOf(told.result) : undefined
    if (value && !written.includes(value.run))
      add('lost', `${value.run} was answered and is not there`)
  }
  return findings
}

function valueOf(result: unknown): Note | undefined {
  return (result as { value?: Note }).value
}
