import { once } from 'node:events'

import { Kysely, PostgresDialect } from 'kysely'
import { oncelyDialect } from 'oncely/pg'
import { Client, Pool } from 'pg'

import { type HostName, hosts } from './hosts.ts'
import type { Moves } from './moves.ts'
import { Stepper } from './stepper.ts'
import { steppedClient } from './stepped-client.ts'

/** The table of the host's business. Nothing in it keeps a key from being written twice. */
export interface RunsDatabase {
  runs: { key: string; run: string }
}

/** Where a participant sits in every schedule: connections are slow to make. */
export interface Seat {
  readonly stepper: Stepper
  readonly db: Kysely<RunsDatabase>
  readonly pid: number
  /** Whether its connection is back in the pool, and still the same one. */
  atRest(): boolean
  /** Waits for its connection, or not for ever: behind a replay the rollback is not waited for. */
  untilBack(): Promise<void>
  close(): Promise<void>
}

export async function takeSeat(
  url: string,
  name: string,
  moves: Moves,
  host: HostName,
): Promise<Seat> {
  const stepper = new Stepper(name, moves)
  const { sharesTurns } = hosts[host]
  const made = hostOn(url, name, sharesTurns, steppedClient(stepper, sharesTurns))
  const { pool, db } = made
  const client = await pool.connect()
  let connections = 1
  pool.on('connect', () => (connections += 1))
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return {
      stepper,
      db,
      pid: Number(rows[0]?.pid),
      atRest: () => connections === 1 && pool.idleCount === 1 && pool.waitingCount === 0,
      untilBack: () => untilBack(pool),
      close: () => db.destroy(),
    }
  } finally {
    client.release()
  }
}

/** A host whose statements nobody holds, unless its client does. */
export function hostOn(url: string, name: string, pipeline: boolean, ClientOf = Client) {
  const pool = new Pool({
    connectionString: url,
    application_name: name,
    max: 1,
    idleTimeoutMillis: 0,
    Client: ClientOf,
    ...(pipeline && { pipeline }),
  })
  // When all is put away before its time, such as by Ctrl-C, connections are cut.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const db = new Kysely<RunsDatabase>({ dialect: oncelyDialect(new PostgresDialect({ pool })) })
  return { pool, db }
}

/** Less than what a schedule may take, so that it is judged and not given up. */
const PATIENCE_MS = 10_000

async function untilBack(pool: Pool): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  while (pool.totalCount > pool.idleCount && !signal.aborted) {
    await once(pool, 'release', { signal }).catch(() => undefined)
  }
}
