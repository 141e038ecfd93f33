import { type Kysely, sql, type Transaction } from 'kysely'

import {
  type CallContext,
  type CallOptions,
  createIdempotency,
  fingerprint,
  type Idempotency,
} from '../../src/index.ts'

/** The business that is counted: each of its statements names this table, and nothing else does. */
export interface Business {
  turn_notes: { key: string; body: number }
}

/** What decides about turns is whether the dialect is wrapped; not so whether the client pipelines. */
export type TurnHost = 'pipelining' | 'oncelyDialect' | 'plain'

/** One call that is counted. */
export interface TurnCase {
  readonly name: string
  /** By which it is judged, see `budgetOf`. */
  readonly of: 'first execution' | 'replay' | 'other'
  /** Turns that it may have beyond those of its like, since it does more. */
  readonly more?: Partial<Record<TurnHost, number>>
  /** The kind that it ends with; another one was not what is counted here. */
  readonly kind: string
  /** How many statements the business has. */
  readonly statements: number
  /** Makes what the call is to find; not counted. */
  readonly before?: (db: Kysely<Business>, key: string) => Promise<unknown>
  readonly call: (db: Kysely<Business>, key: string) => Promise<{ readonly kind: string }>
}

const scope = { tenant: 't1', actor: 'u1', operation: 'turns' }
const one = fingerprint({ note: 1 }, { version: 1 })
const two = fingerprint({ note: 2 }, { version: 1 })

/** The business alone, as it is without any of this. */
export function bareTransaction(db: Kysely<Business>, key: string, statements: number) {
  return db.transaction().execute((tx) => writeNotes(tx, key, statements))
}

async function writeNotes(tx: Transaction<Business>, key: string, statements: number) {
  for (let body = 0; body < statements; body += 1) {
    await tx.insertInto('turn_notes').values({ key, body }).execute()
  }
}

/** An instance of whatever options, all of which end by a kind. */
interface Calls {
  withIdempotency(
    ...given: Parameters<Idempotency<Business>['withIdempotency']>
  ): Promise<{ readonly kind: string }>
}

const plainly = (of: Idempotency<Business>): Calls => of

interface Manner {
  readonly as?: (of: Idempotency<Business>) => Calls
  /** Behind the notes. */
  readonly end?: (context: CallContext, tx: Transaction<Business>) => unknown
  readonly print?: typeof one
  readonly options?: CallOptions
}

/** A call whose business writes that many notes. */
function calling(statements: number, manner: Manner = {}): TurnCase['call'] {
  const { as = plainly, end = () => 'done', print = one, options } = manner
  return (db, key) => {
    const fn = async (tx: Transaction<Business>, context: CallContext) => {
      await writeNotes(tx, key, statements)
      return end(context, tx)
    }
    return as(createIdempotency(db)).withIdempotency(scope, key, print, fn, options)
  }
}

const emitTwo = ({ emit, key }: CallContext) => {
  for (const type of ['note.written', 'note.read']) {
    emit({ type, aggregateType: 'note', aggregateId: key, payload: { type } })
  }
}
const quota = (of: Idempotency<Business>): Calls =>
  of.withOptions({ quota: { limit: 1_000_000, windowMs: 60_000 } })
const retry = (of: Idempotency<Business>): Calls => of.withOptions({ retry: { attempts: 3 } })
const share = (of: Idempotency<Business>): Calls => of.withOptions({ replayLock: 'share' })
const askTable = async (tx: Transaction<Business>) => {
  await tx.selectFrom('turn_notes').selectAll().execute()
  return true
}
const readFirst = (of: Idempotency<Business>): Calls => of.withOptions({ readFirst: true })
const authorize = (of: Idempotency<Business>): Calls => of.withOptions({ authorize: askTable })
const duplicate = (of: Idempotency<Business>): Calls =>
  of.withOptions({
    businessIdentity: {
      constraint: 'turn_notes_pkey',
      async resolve(tx) {
        await askTable(tx)
        return { disposition: 'conflict' }
      },
    },
  })

const executed = calling(1)
const bounded = calling(1, { options: { deadlineMs: 60_000 } })
const rejected = calling(1, { end: (context) => context.reject('no') })
const expired: TurnCase['before'] = async (db, key) => {
  await executed(db, key)
  await createIdempotency(db).expire(scope, key)
}
const joined: TurnCase['call'] = (db, key) =>
  db.transaction().execute((tx) =>
    createIdempotency(db)
      .withTransaction(tx)
      .withIdempotency(scope, key, one, async (inner) => {
        await writeNotes(inner, key, 1)
      }),
  )

/** Fails once for a passing reason, as PostgreSQL says it. */
const failingOnce: TurnCase['call'] = (db, key) => {
  let runs = 0
  const end: Manner['end'] = async (_context, tx) => {
    runs += 1
    if (runs > 1) return
    await sql`do $$ begin raise exception 'turn_notes' using errcode = '40001'; end $$`.execute(tx)
  }
  return calling(1, { as: retry, end })(db, key)
}

const first = (name: string, statements: number, call: TurnCase['call'], kind = 'executed') =>
  ({ name, of: 'first execution', kind, statements, call }) as const
const later = (
  name: string,
  of: TurnCase['of'],
  kind: string,
  call: TurnCase['call'],
  before: TurnCase['before'] = executed,
) => ({ name, of, kind, statements: 1, call, before }) as const

export const turnCases: readonly TurnCase[] = [
  first('first execution, fn of 0 statements', 0, calling(0)),
  first('first execution, fn of 1 statement', 1, executed),
  first('first execution, fn of 3 statements', 3, calling(3)),
  first('first execution, with 2 events', 1, calling(1, { end: emitTwo })),
  // What was written is undone by a statement of its own.
  { ...first('first execution, rejected', 1, rejected, 'rejected'), more: { plain: 1 } },
  first('first execution, with deadlineMs', 1, bounded),
  first('first execution, with retry', 1, calling(1, { as: retry })),
  first('first execution, with businessIdentity', 1, calling(1, { as: duplicate })),
  {
    ...first('first execution, with readFirst', 1, calling(1, { as: readFirst })),
    more: { pipelining: 1, oncelyDialect: 1, plain: 1 },
  },
  // A use is counted once the key is known to be new.
  {
    ...first('first execution, with quota', 1, calling(1, { as: quota })),
    more: { pipelining: 1, oncelyDialect: 1, plain: 1 },
  },
  first('first execution, with authorize', 1, calling(1, { as: authorize })),
  first("first execution, replayLock 'share'", 1, calling(1, { as: share })),
  { ...first('run twice by retry', 1, failingOnce), of: 'other' },
  { ...first('joined', 1, joined, 'applied'), of: 'other' },
  later('replay', 'replay', 'replayed', executed),
  later('replay of a rejection', 'replay', 'rejected', rejected, rejected),
  later('replay, with deadlineMs', 'replay', 'replayed', bounded),
  later('replay, with readFirst', 'replay', 'replayed', calling(1, { as: readFirst })),
  later('expired', 'replay', 'expired', executed, expired),
  later('conflict', 'replay', 'conflict', calling(1, { print: two })),
  later("replay, replayLock 'share'", 'other', 'replayed', calling(1, { as: share })),
  later('replay, with authorize', 'other', 'replayed', calling(1, { as: authorize })),
  later(
    'duplicate, with its resolver',
    'other',
    'duplicate',
    calling(1, { as: duplicate }),
    bareNote,
  ),
]

function bareNote(db: Kysely<Business>, key: string) {
  return bareTransaction(db, key, 1)
}

/** To be made once in a database. */
export const createBusiness = sql`create table if not exists turn_notes (
  key text, body int, constraint turn_notes_pkey primary key (key, body)
)`
