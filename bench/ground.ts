import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'

import { migrateToLatest } from '../src/migrations.ts'
import { startEmbeddedServer } from '../test/support/embedded-server.ts'
import { createBusinessTables, type Tables } from './business.ts'
import type { Loaded } from './intent.ts'
import { copyRecords, createKeyTables } from './key-tables.ts'
import { loadRecords, settle } from './load.ts'
import { describeMachine, type Machine } from './machine.ts'
import {
  type DelayedNetwork,
  measureNetwork,
  type NetworkFigures,
  startDelayedNetwork,
} from './network/delayed-network.ts'

const NETWORK_MS = 1

/** What is loaded before anything is measured. */
export const LIVE: Loaded = { prefix: 'live', count: 10_000 }
export const PAST: Loaded = { prefix: 'past', count: 10_000 }

/** What the sections are measured on. */
export interface Ground {
  readonly machine: Machine
  readonly network: NetworkFigures
  /** The database that most of them share, directly or with a millisecond of network. */
  url(networkMs: number): string
  /** Another database with our tables and those of the business. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

export async function prepareGround(): Promise<Ground> {
  const server = await startEmbeddedServer(undefined, {
    fsync: 'on',
    max_connections: '600',
    shared_buffers: '1GB',
    // No checkpoint within a run, which would fall into the rounds of one variant.
    max_wal_size: '32GB',
    checkpoint_timeout: '1h',
  })
  let network: DelayedNetwork | undefined
  try {
    const url = await createDatabase(server.url, 'bench')
    network = await startDelayedNetwork(url, NETWORK_MS)
    const far = network
    const machine = await onDatabase(url, async (db) => {
      for (const loaded of [LIVE, PAST]) await loadRecords(db, loaded)
      await copyRecords(db)
      await settle(db)
      return describeMachine(db)
    })
    return {
      machine,
      network: await measureNetwork(url, network, NETWORK_MS),
      url: (networkMs) => (networkMs === 0 ? url : far.through(url)),
      createDatabase: (name) => createDatabase(server.url, name),
      async stop() {
        await far.stop()
        await server.stop()
      },
    }
  } catch (error) {
    await network?.stop()
    await server.stop()
    throw error
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onDatabase(serverUrl, (db) => sql`create database ${sql.id(name)}`.execute(db))
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  await onDatabase(url, async (db) => {
    await migrateToLatest(db)
    await createBusinessTables(db)
    await createKeyTables(db)
  })
  return url
}

/** One connection for something that is not measured. */
export async function onDatabase<T>(
  url: string,
  work: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const pool = new Pool({ connectionString: url, max: 1 })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
