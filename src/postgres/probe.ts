import { CompiledQuery, type DatabaseConnection } from 'kysely'

import { Batch } from './batch.ts'
import type { Stream } from './client.ts'
import type { NodePostgres } from './node-postgres.ts'

/**
 * Finds out whether the client behind a connection lets a query send itself, as node-postgres in
 * JavaScript does; where it pipelines, only a query of a class of its own. Nothing is sent.
 *
 * @returns what it writes to. undefined where it does not.
 */
export async function streamOf(
  connection: DatabaseConnection,
  driver: NodePostgres,
): Promise<Stream | undefined> {
  const probe = new Probe(driver)
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
class Probe extends Batch {
  asked = false
  stream: unknown
  readonly state = 'end'
  declare emit: (event: string) => boolean

  override submit(): Error {
    this.asked = true
    process.nextTick(() => this.emit('_done'))
    return new Error('not to be sent')
  }

  override handleError(error: Error, connection: unknown): void {
    this.stream = (Object(connection) as { stream?: unknown }).stream
    this.callback?.(error)
  }
}
