import { after, before } from 'node:test'

import {
  ask,
  PATIENCE_S,
  type PgBouncerOptions,
  type RunningPgBouncer,
  startPgBouncer,
} from './pgbouncer-server.ts'
import { urlOf } from './test-run.ts'

/** A PgBouncer in transaction mode. */
export interface PgBouncer {
  /** The same database through it. */
  readonly url: () => string
  /** Any database of the server through it. */
  readonly urlOf: (database: string) => string
  /** Waits until that many clients are seen to wait for a server connection. */
  readonly untilQueued: (count: number) => Promise<void>
}

/**
 * To be called at the top of a test file, behind `testDatabase`; inside of a `describe` for a way to the
 * database that is there inside of tests, and not before.
 */
export function pgBouncer(way: string | (() => string), options: PgBouncerOptions): PgBouncer {
  const url = () => (typeof way === 'string' ? way : way())
  const database = () => new URL(url()).pathname.slice(1)
  let running: RunningPgBouncer | undefined
  const through = (name: string) => {
    if (!running) throw new Error('the PgBouncer is there inside of tests, and not before')
    return urlOf(running.url, name)
  }
  before(async () => {
    running = await startPgBouncer(url(), options)
  })
  after(() => running?.stop())
  return {
    url: () => through(database()),
    urlOf: through,
    untilQueued: (count) => untilQueued(through('pgbouncer'), database(), count),
  }
}

async function untilQueued(console: string, database: string, count: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_S * 1_000
  while (Date.now() < deadline) {
    const pools = await ask(console, 'show pools')
    const pool = pools.find((row) => row['database'] === database)
    if (Number(pool?.['cl_waiting']) >= count) return
  }
  throw new Error(`no ${count} clients have come to wait for a server connection`)
}
