import { setTimeout } from 'node:timers/promises'

import { type Kysely, sql } from 'kysely'

import { enter, type OwnTables } from './enter.ts'
import { HeldConnection } from './held-connection.ts'
import { SQLSTATE, sqlState } from './sqlstate.ts'
import { OVER, within } from './within.ts'

/**
 * A transaction on the server. By its id alone it cannot be recognised: after a crash the next one
 * can be given the same.
 */
export interface TransactionIdentity {
  readonly xid: string
  /** Seconds since 1970, by the database's clock. */
  readonly startedAt: string
}

/** Names the transaction in which it is evaluated. */
export const transactionIdentity = {
  xid: sql<string>`pg_current_xact_id()::text`,
  startedAt: sql<string>`extract(epoch from transaction_timestamp())::text`,
} as const

/** A transaction whose COMMIT was sent and not answered, and how to see what it left. */
export interface LostCommit<Found> {
  readonly transaction: TransactionIdentity
  readonly schema: string
  readonly timeoutMs: number
  /** Looks once the transaction is over; undefined when this server cannot be believed. */
  readonly look: (own: OwnTables) => Promise<Found | undefined>
}

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 500
/** A connection from the pool may be as dead as the one that was lost: so that another is tried. */
const ASKS_AT_LEAST = 4

/**
 * Finds out what became of a transaction: on another connection, as soon as the server says that it
 * is over. A transaction that does not end by itself is ended after half of the time.
 *
 * @returns what `look` found; undefined when no primary could be asked in time, or it was not over.
 */
export async function resolveCommit<DB, Found>(
  db: Kysely<DB>,
  lost: LostCommit<Found>,
): Promise<Found | undefined> {
  const begun = performance.now()
  const left = () => lost.timeoutMs - (performance.now() - begun)
  const longest = Math.min(LONGEST_PAUSE_MS, lost.timeoutMs / 10)
  const share = Math.max(lost.timeoutMs / ASKS_AT_LEAST, 1_000)
  for (let pause = FIRST_PAUSE_MS; left() > 0; pause = Math.min(pause * 2, longest)) {
    const found = await onAnotherConnection(db, Math.min(left(), share), (connection) =>
      ask(enter(connection, lost.schema), lost, left() < lost.timeoutMs / 2),
    )
    if (found !== undefined) return found
    await setTimeout(Math.min(pause, Math.max(left(), 0)))
  }
  return undefined
}

/** Whatever goes wrong here may go well the next time: no connection, a server that starts up. */
async function onAnotherConnection<DB, Found>(
  db: Kysely<DB>,
  ms: number,
  run: (connection: Kysely<DB>) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const givenUp = Promise.withResolvers<undefined>()
  let over = false
  let giveUp = () => undefined as unknown
  const running = db.connection().execute(async (connection) => {
    // The pool had none in time; this one goes straight back.
    if (over) return undefined
    const { control } = await HeldConnection.of(connection)
    if (!control) return run(connection)
    // One that does not answer is destroyed, where that can be done. Otherwise it stays out of the
    // pool until it does.
    giveUp = () => {
      control.abandon(new Error('the connection did not answer'))
      givenUp.resolve(undefined)
    }
    return Promise.race([run(connection), givenUp.promise])
  })
  try {
    const found = await within(ms, running)
    if (found !== OVER) return found
  } catch {
    return undefined
  }
  over = true
  giveUp()
  return undefined
}

async function ask<Found>(
  own: OwnTables,
  { transaction, look }: LostCommit<Found>,
  mayEnd: boolean,
): Promise<Found | undefined> {
  const status = await statusOf(own, transaction)
  if (status === 'in recovery') return undefined
  if (status === 'in progress' && !(await isAnotherWithItsId(own, transaction, mayEnd))) {
    return undefined
  }
  // A later statement, whose snapshot has what the transaction left. Committed or aborted, too old to
  // be known, or lost by a crash: only what is there decides.
  return look(own)
}

async function statusOf(own: OwnTables, { xid }: TransactionIdentity): Promise<string> {
  const query = sql<{ status: string }>`
    select case when pg_is_in_recovery() then 'in recovery'
      else coalesce(pg_xact_status(${xid}::xid8), 'too old') end as status`
  try {
    const { rows } = await own.run(query.compile(own.tables))
    return rows[0]?.status ?? 'in recovery'
  } catch (error) {
    // An id in the future: a crash has lost the transaction, and its id was not given again so far.
    if (sqlState(error) === SQLSTATE.invalidParameterValue) return 'lost by a crash'
    throw error
  }
}

/**
 * Looks who has the transaction's id, and ends our transaction if it may be ended.
 *
 * Ending it is safe: its client has given it up, and whether it still commits or not, the record
 * says so afterwards. It is ours by id and start, of this role and database. Should it be over in the
 * moment between, a neighbour on that connection loses it, as on any shutdown. Not so a transaction
 * that waits for a synchronous standby: that has committed, and ending the wait would show it early.
 *
 * @returns whether somebody else has the id, so that ours has gone in a crash. False when the role may
 * not see who.
 */
async function isAnotherWithItsId(
  own: OwnTables,
  { xid, startedAt }: TransactionIdentity,
  mayEnd: boolean,
): Promise<boolean> {
  const ours = sql`extract(epoch from xact_start) = ${startedAt}::numeric`
  const endable = sql`${mayEnd} and ${ours} and usename = current_user
    and datname = current_database() and wait_event is distinct from 'SyncRep'`
  const query = sql<{ ours: boolean | null }>`
    select ${ours} as ours, case when ${endable} then pg_terminate_backend(pid) end as ended
    from pg_stat_activity where backend_xid = ${xid}::xid8::xid`
  const { rows } = await own.run(query.compile(own.tables))
  return rows.some((row) => row.ours === false)
}
