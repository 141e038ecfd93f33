import { EventEmitter } from 'node:events'

import { CompiledQuery, type DatabaseConnection } from 'kysely'

import type { Stream } from './client.ts'
import type { NodePostgres } from './node-postgres.ts'

/** A client that lets a query send itself. */
interface Found {
  /** Where it pipelines, it does not wait: it takes queries of its own class alone, of which that is known. */
  readonly sendsOneByOne: boolean
  /** What it writes to. */
  readonly stream: Stream
}

/**
 * Finds out whether the client behind a connection lets a query send itself, as node-postgres in
 * JavaScript does. Nothing is sent.
 *
 * @returns undefined where it does not.
 */
export async function probed(
  connection: DatabaseConnection,
  driver: NodePostgres,
): Promise<Found | undefined> {
  const foreign = await streamOf(connection, new Probe())
  if (foreign) return { sendsOneByOne: true, stream: foreign }
  const own = await streamOf(
    connection,
    Object.setPrototypeOf(new Probe(), driver.queries) as Probe,
  )
  return own && { sendsOneByOne: false, stream: own }
}

async function streamOf(connection: DatabaseConnection, probe: Probe): Promise<Stream | undefined> {
  try {
    // Kysely's type knows texts alone.
    await connection.executeQuery({ ...CompiledQuery.raw(''), sql: probe as unknown as string })
  } catch {
    return undefined
  }
  // It tells the query in the next tick.
  await new Promise((resolve) => {
    process.nextTick(resolve)
  })
  return probe.asked && isStream(probe.stream) ? probe.stream : undefined
}

function isStream(stream: unknown): stream is Stream {
  const { write, destroy } = Object(stream) as Partial<Record<string, unknown>>
  return typeof write === 'function' && typeof destroy === 'function'
}

/**
 * A query that refuses to be sent. node-postgres's binding to libpq cannot tell it from one of its own,
 * and waits for the end of it, or sends its text where it pipelines: that is empty.
 */
class Probe extends EventEmitter {
  asked = false
  stream: unknown
  readonly state = 'end'
  readonly text = ''
  /** Set by a client that has a `query_timeout`. */
  callback: ((error: Error | null) => void) | undefined

  // Of each one itself, as one inherits from another class.
  readonly submit = (): Error => {
    this.asked = true
    process.nextTick(() => this.emit('_done'))
    return new Error('not to be sent')
  }

  readonly handleError = (error: Error, connection: unknown): void => {
    this.stream = (Object(connection) as { stream?: unknown }).stream
    this.callback?.(error)
  }
}
