import { EventEmitter } from 'node:events'

import { CompiledQuery, type DatabaseConnection, type Driver, PostgresDriver } from 'kysely'

/** What is known of the client behind a connection. */
export interface ClientOf {
  /** Whether it is that of node-postgres in JavaScript, which takes more for a query than a text. */
  readonly takesObjects: boolean
  /** Whether it sends a statement before the one in front of it is answered. */
  readonly pipelines: boolean
  /** What it writes to, where that is a stream of Node's. */
  readonly stream?: Stream
}

/** What is used of a stream of Node's. */
interface Stream {
  cork(): void
  uncork(): void
  destroy(): void
}

/**
 * Whether a driver is Kysely's own for node-postgres. Not so one that is derived from it, such as that
 * for postgres.js.
 */
export function isNodePostgres(driver: Driver): boolean {
  return driver.constructor === PostgresDriver
}

/**
 * Finds out what client a connection of node-postgres has. Whether it pipelines it tells nobody, but
 * with `pipeline: true` it refuses a query that brings its own way of being sent, as a cursor does;
 * elsewhere it asks such a query to send itself, which this one refuses. Nothing is sent.
 */
export async function clientOf(connection: DatabaseConnection): Promise<ClientOf> {
  const probe = new Probe()
  try {
    // Kysely's type knows texts alone.
    await connection.executeQuery({ ...CompiledQuery.raw(''), sql: probe as unknown as string })
  } catch {
    return OTHER
  }
  // It tells the query in the next tick.
  await new Promise((resolve) => {
    process.nextTick(resolve)
  })
  const { asked, refusal, stream } = probe
  if (!isStream(stream)) return OTHER
  const pipelines = !asked && refusal?.message.includes('pipeline') === true
  return { takesObjects: asked || pipelines, pipelines, stream }
}

/** A client of which nothing is known: it is given texts, one after the other. */
export const OTHER: ClientOf = { takesObjects: false, pipelines: false }

function isStream(stream: unknown): stream is Stream {
  const { cork, uncork, destroy } = Object(stream) as Partial<Stream>
  return [cork, uncork, destroy].every((method) => typeof method === 'function')
}

/**
 * What node-postgres takes for a query. Its binding to libpq cannot tell it from one of its own, and
 * waits for the end of it, or sends its text where it pipelines: that is empty.
 */
class Probe extends EventEmitter {
  asked = false
  refusal: Error | undefined
  stream: unknown
  readonly text = ''
  readonly state = 'end'
  /** Set by a client that has a `query_timeout`, which it ends. */
  callback: ((error: Error) => void) | undefined

  submit(): Error {
    this.asked = true
    process.nextTick(() => this.emit('_done'))
    return new Error('not to be sent')
  }

  handleError(error: Error, connection: unknown): void {
    this.refusal = error
    this.stream = (Object(connection) as { stream?: unknown }).stream
    this.callback?.(error)
  }
}
