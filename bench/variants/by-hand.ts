import { randomUUID } from 'node:crypto'

import { Kysely, PostgresDialect } from 'kysely'
import { DatabaseError, type Pool, type PoolClient, type QueryResult } from 'pg'

import { placeOrder, type Tables } from '../business.ts'
import type { Intent, Variant } from '../intent.ts'
import { BEGIN, bound, claim, read, store } from './by-hand-statements.ts'

/**
 * The same protocol on the same tables with nothing in between: raw `pg`, pipelining, named statements.
 * Only the business function is on Kysely. What is missing to 1 is the library's own work.
 *
 * @param pool - of a client with `pipeline: true`.
 */
export function byHand(pool: Pool): Variant {
  const business = new WeakMap<PoolClient, Kysely<Tables>>()
  return async (intent) => {
    const client = await pool.connect()
    let db = business.get(client)
    if (!db) business.set(client, (db = kyselyOn(client)))
    let ended: Promise<unknown> = Promise.resolve()
    try {
      const attempt = randomUUID()
      const [, bounded, claimed, found] = await together(client, () => [
        client.query(BEGIN),
        client.query(bound(attempt)),
        client.query(claim(intent, attempt)),
        client.query(read(intent)),
        client.query('savepoint business'),
      ])
      if (isolationOf(bounded) !== 'read committed') throw new Error('it does not see who has won')
      if (claimed.rowCount !== 1) {
        // Nobody has to wait for it: the connection is free when it is over.
        ended = client.query('rollback')
        return outcomeOf(found, intent)
      }
      const order = await placeOrder(db, intent.scope.tenant)
      const [, committed] = await together(client, () => [
        client.query(store(intent, attempt, order)),
        client.query('commit'),
      ])
      if (committed.command !== 'COMMIT') throw new Error('a statement that failed was swallowed')
      return 'executed'
    } catch (error) {
      ended = client.query('rollback')
      if (error instanceof DatabaseError && error.code === '55P03') return 'in_progress'
      throw error
    } finally {
      const release = (error?: Error) => {
        client.release(error)
      }
      ended.then(() => {
        release()
      }, release)
    }
  }
}

/**
 * Sends statements in one write to the socket. pg writes each for itself, and a write costs more than
 * anything else that a client does for a statement.
 */
function together<Results extends readonly unknown[]>(
  client: PoolClient,
  send: () => { [At in keyof Results]: Promise<Results[At]> },
): Promise<Results> {
  const { stream } = client.connection
  stream.cork()
  try {
    return Promise.all(send())
  } finally {
    stream.uncork()
  }
}

function isolationOf({ rows }: QueryResult): string | undefined {
  return (rows[0] as { readonly isolation: string } | undefined)?.isolation
}

interface Found {
  readonly described: string
  readonly response: Buffer
}

function outcomeOf({ rows }: QueryResult, { print }: Intent): string {
  const row = rows[0] as Found | undefined
  if (!row) return 'in_progress'
  const described = JSON.parse(row.described) as unknown[]
  const [digest, expired] = [described[2], described.at(-1)]
  if (digest !== print.digest) return 'conflict'
  if (expired) return 'expired'
  JSON.parse(row.response.toString())
  return 'replayed'
}

/** A Kysely whose only connection is that client, in whatever transaction it is. */
function kyselyOn(client: PoolClient): Kysely<Tables> {
  const lent = {
    query: client.query.bind<PoolClient['query']>(client),
    release: () => undefined,
  }
  const pool = { options: {}, connect: () => Promise.resolve(lent), end: () => Promise.resolve() }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}
